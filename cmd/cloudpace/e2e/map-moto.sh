#!/bin/sh
# Map a local AWS: start moto_server, fill it, and map it into cloudpace-out/.
#
#   map-moto.sh [flags of cloudpace map]
#
# Where moto_server is missing it is installed into .venv/ (and Python through
# apt-get, where that exists).
set -eu
cd "$(dirname "$0")/../../.."

if ! command -v moto_server >/dev/null || ! python3 -c 'import boto3' 2>/dev/null; then
	if [ ! -x .venv/bin/moto_server ]; then
		if ! python3 -m venv --help >/dev/null 2>&1 && command -v apt-get >/dev/null; then
			apt-get update -qq && apt-get install -y -qq python3 python3-venv
		fi
		python3 -m venv .venv
		.venv/bin/pip install --quiet 'moto[server]>=5.1,<6' boto3
	fi
	PATH=$PWD/.venv/bin:$PATH
fi

log=$(mktemp)
MOTO_EC2_LOAD_DEFAULT_AMIS=false PYTHONUNBUFFERED=1 moto_server -H 127.0.0.1 -p 0 >"$log" 2>&1 &
moto=$!
trap 'kill $moto 2>/dev/null; rm -f "$log"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

endpoint=
for _ in $(seq 300); do
	endpoint=$(sed -n 's/.*Running on \(http:[^ ]*\).*/\1/p' "$log")
	[ -z "$endpoint" ] || break
	kill -0 $moto 2>/dev/null || break
	sleep 0.1
done
if [ -z "$endpoint" ]; then
	cat "$log" >&2
	echo "moto_server did not start" >&2
	exit 1
fi

# Nothing of the caller's own AWS set-up is used.
unset AWS_PROFILE AWS_DEFAULT_PROFILE AWS_SESSION_TOKEN AWS_CA_BUNDLE
for name in $(env | sed -n 's/^\(AWS_ENDPOINT_URL[A-Z0-9_]*\)=.*/\1/p'); do
	unset "$name" # there is one for each service
done
export AWS_ACCESS_KEY_ID=testing AWS_SECRET_ACCESS_KEY=testing AWS_EC2_METADATA_DISABLED=true
export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null

echo "filling moto_server at $endpoint" >&2
PYTHONDONTWRITEBYTECODE=1 python3 cmd/cloudpace/e2e/testdata/seed.py "$endpoint" >/dev/null
go build -o dist/cloudpace ./cmd/cloudpace
dist/cloudpace map -p aws --regions us-east-1 --endpoint-url "$endpoint" -o cloudpace-out "$@"
