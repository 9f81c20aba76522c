#!/bin/sh
# Makes everything in this folder: about two hours on two cores. It can be stopped at any time and started again:
# finished runs are not repeated. Needs csim on the path and CSIM_DATA set to the folder of the data sets.
#
#   CSIM_DATA=data sh results/make.sh
set -eu
cd "$(dirname "$0")/.."

seeds="--seed 0 --seed 1 --seed 2"
whole="--thin 1 --dataset mnist --dataset fashion-mnist --method paper --method default --seed 0"

csim bench data-sets
for table in stream novelty; do
    csim bench "$table" $seeds
    csim bench "$table" --r 0.5 --seed 0
    csim bench "$table" $whole
done
csim bench over-stream --seed 0
csim bench label-curve $seeds
csim bench convolution $seeds
csim bench sensitivity $seeds
csim bench embedding
csim bench cohesion $seeds
csim bench tuning --seed 100

csim bench closed-set
csim bench mining
csim bench beta
csim bench presets
csim bench speed

csim bench report
