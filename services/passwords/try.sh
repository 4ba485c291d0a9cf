# What scripts/up needs to know of passwords; see scripts/lib/samples.sh.

ports[passwords]="8084 8484 9084"

samples_passwords() {
    load_once passwords samples/passwords.txt \
        "$bin/passwords" build --input-format plaintext --activate samples/passwords.txt
}
address_of_passwords() { echo "https://localhost:8484   no key"; }
try_passwords() { echo "curl --cacert $data/passwords/tls/ca.pem https://localhost:8484/range/5BAA6"; }
