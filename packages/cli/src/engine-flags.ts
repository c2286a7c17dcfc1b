import { setFlagsFromString } from 'node:v8'

/** The minimum size of V8's young generation in MiB. */
export const youngFlag = '--min-semi-space-size=4'

/**
 * Settings of V8 for nodes and imports.
 *
 * Keep V8's young generation small, and collect it in the thread that fills it. Otherwise V8 grows it, and the process, by
 * tens of megabytes per thread under load, for little gain; and waking other threads for so little memory costs a cached
 * response a tenth of its time.
 *
 * V8 takes the minimum for a thread when the thread starts. Without it, V8 shrinks the young generation to 1 MiB in a
 * collection while little is allocated, and with this growth factor the generation stays there: it is then collected
 * four times as often, which costs a cached response a tenth of its time. So the clone passes {@link youngFlag} to Node.
 *
 * Compile only functions that are called often with the slowest compiler (by default after 3,000 calls): inspecting skills
 * takes hundreds of functions, in each thread, so compiling them was a seventh of the CPU time of an import.
 */
export const engineFlags = [
  '--semi-space-growth-factor=1',
  youngFlag,
  '--no-parallel-scavenge',
  '--invocation-count-for-turbofan=12000',
]

/** Sets {@link engineFlags} for this process and its threads. */
export function setEngineFlags(): void {
  for (const flag of engineFlags) setFlagsFromString(flag)
}
