# What scripts/up needs to know of buckets; see scripts/lib/samples.sh.

ports[buckets]="8082 9082"

samples_buckets() {
    load_once buckets samples/buckets "$bin/buckets" load samples/buckets &&
        keep_key buckets "$bin/buckets" keys issue demo --plan premium
}
address_of_buckets() { echo "http://127.0.0.1:8082   key $(demo_key buckets)"; }
try_buckets() {
    echo "curl -H 'Authorization: Bearer $(demo_key buckets)' 'http://127.0.0.1:8082/api/v2/files?keywords=backup&limit=1'"
}
