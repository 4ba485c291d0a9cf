"""PyPI hibp-downloader mirrors ranges twice: passwords_mirror.py BASE_URL FOLDER PREFIX..."""

import asyncio
import gzip
import pathlib
import sys
import urllib.request

from hibp_downloader.commands import hibp_download as downloader
from hibp_downloader.models import HashType, PrefixMetadataDataSource as Source

base, folder, prefixes = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
downloader.PWNEDPASSWORDS_API_URL = base
data, metadata = folder / "mirror-data", folder / "mirror-metadata"


async def fetch(prefix):
    return await downloader.pwnedpasswords_get_and_store_async(
        prefix=prefix, hash_type=HashType.sha1, data_path=data, metadata_path=metadata,
        encoding_type="gzip", http_timeout=10, http_max_retries=1, http_proxy="",
        http_certificates="", http_debug=False, ignore_etag=False, local_cache_ttl=0,
        worker_index=0)


for prefix in prefixes:
    first = asyncio.run(fetch(prefix))
    assert first.data_source == Source.remote_source_origin_source, first
    second = asyncio.run(fetch(prefix))
    assert second.data_source == Source.local_source_etag_match, second
    (stored,) = [path for path in data.rglob("*") if path.is_file() and prefix.lower() in path.name.lower()]
    plain = urllib.request.urlopen(f"{base}/range/{prefix}").read()
    assert gzip.decompress(stored.read_bytes()) == plain and plain, stored
