#!/bin/sh
# Runs Mosquitto in a folder, and starts it again when the file that Meshwright writes has changed.
# The checksum of what runs is in the file "running"; the inventory's reload waits for it.
set -u
home=$1
own=$home/conf.d/meshwright.conf
mkdir -p "$home/conf.d"
chmod 0777 "$home/conf.d"
cat > "$home/broker.conf" <<CONF
listener ${MESHWRIGHT_PORT:-1883} ${MESHWRIGHT_BIND:-0.0.0.0}
allow_anonymous true
max_inflight_messages 0
persistence true
persistence_location $home/
log_dest stderr
log_dest topic
log_type error
log_type warning
log_type notice
log_type subscribe
connection_messages false
include_dir $home/conf.d
${MESHWRIGHT_MORE:-}
CONF

sum() {
  cksum < "$own" 2> /dev/null || echo none
}

trap 'kill "$broker" 2> /dev/null; exit 0' TERM INT
while true; do
  now=$(sum)
  "${MESHWRIGHT_MOSQUITTO:-mosquitto}" -c "$home/broker.conf" &
  broker=$!
  echo "$now" > "$home/running"
  while kill -0 "$broker" 2> /dev/null && [ "$(sum)" = "$now" ]; do
    sleep 0.2
  done
  kill "$broker" 2> /dev/null
  wait "$broker"
done
