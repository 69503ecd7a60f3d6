#!/bin/sh
# A ComfyUI for tests: reads the flags of custom nodes, prints what ComfyUI would, runs a prompt for each line in
# the file "queue" of its folder, leaks when "Guilty" is on, and stops at an interrupt.
folder=$1
shift
off=no
on=""
listing=no
for word in "$@"; do
    case $word in
        --disable-all-custom-nodes) off=yes; listing=no ;;
        --whitelist-custom-nodes) listing=yes ;;
        --*) listing=no ;;
        *) [ $listing = yes ] && on="$on $word" ;;
    esac
done
[ $off = no ] && on=" Alpha Beta Gamma Guilty Omega"
echo "Total VRAM 24106 MB, total RAM 24106 MB"
echo "pytorch version: 2.8.0+cu128"
echo "ComfyUI version: 0.3.64"
if [ $off = yes ] && [ -z "$on" ]; then
    echo "Skipping loading of custom nodes"
else
    echo "Import times for custom nodes:"
    for pack in $on; do
        echo "   0.0 seconds: /opt/ComfyUI/custom_nodes/$pack"
    done
fi
trap 'echo; echo "Stopped server"; exit 0' INT
: > "$folder/queue"
echo "Starting server"
echo
echo "To see the GUI go to: http://127.0.0.1:8188"
ran=0
while [ ! -e "$folder/give-up" ]; do
    queued=$(wc -l < "$folder/queue")
    if [ "$ran" -lt "$queued" ]; then
        ran=$((ran + 1))
        echo "got prompt"
        case " $on " in
            *" Guilty "*)
                if [ $ran -gt 1 ]; then
                    echo "Potential memory leak detected with model Flux, doing a full garbage collect, for maximum performance avoid circular references in the model code."
                    i=1
                    while [ $i -lt $ran ]; do
                        echo "WARNING, memory leak with model Flux. Please make sure it is not being referenced from somewhere."
                        i=$((i + 1))
                    done
                fi ;;
        esac
        echo "Requested to load Flux"
        echo "loaded completely 9.5e+25 100.0 True"
        echo "Prompt executed in 0.10 seconds"
        echo "$ran" > "$folder/done"
    else
        sleep 0.05
    fi
done
