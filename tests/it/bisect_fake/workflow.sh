#!/bin/sh
# A user's script for tests: queues the prompts that are asked for and waits until they are done.
folder=$1
rm -f "$folder/done"
i=0
while [ $i -lt "$COMFY_TRIAGE_PROMPTS" ]; do
    echo prompt >> "$folder/queue"
    i=$((i + 1))
done
tries=0
while [ "$(cat "$folder/done" 2> /dev/null)" != "$COMFY_TRIAGE_PROMPTS" ]; do
    sleep 0.05
    tries=$((tries + 1))
    [ $tries -gt 400 ] && exit 3
done
echo "$COMFY_TRIAGE_ROUND $COMFY_TRIAGE_URL" >> "$folder/rounds"
