# What scripts/up needs to know of generator; see scripts/lib/samples.sh.

ports[generator]="8081 9081"

samples_generator() {
    keep_key generator "$bin/generator" keys issue demo
}
address_of_generator() { echo "http://127.0.0.1:8081   key $(demo_key generator) (optional)"; }
try_generator() { echo "curl 'http://127.0.0.1:8081/api/Card?type=Visa&seed=demo'"; }
