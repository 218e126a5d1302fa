#!/bin/sh
# On the first start: a certificate, and the overlay of the subscriptions.
set -eu
if [ ! -e /tls/tls.crt ]; then
  openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost -keyout /tls/tls.key -out /tls/tls.crt
fi
if [ ! -e /state/overlay ]; then
  meshwright ingest /subscriptions.csv --as pairs --out /tmp/interests
  meshwright build /tmp/interests --algorithm gm --out /state/overlay
fi
chown -R 10001 /state /tls
