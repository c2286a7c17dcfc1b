import { setFlagsFromString } from 'node:v8'

/**
 * Settings of V8 for nodes and imports.
 *
 * Keep V8's young generation small, and collect it in the thread that fills it. Otherwise V8 grows it, and the process, by
 * tens of megabytes per thread under load, for little gain; and waking other threads for so little memory costs a cached
 * response a tenth of its time.
 *
 * Compile only functions that are called often with the slowest compiler (by default after 3,000 calls): inspecting skills
 * takes hundreds of functions, in each thread, so compiling them was a seventh of the CPU time of an import.
 */
export const engineFlags = [
  '--semi-space-growth-factor=1',
  '--min-semi-space-size=4',
  '--no-parallel-scavenge',
  '--invocation-count-for-turbofan=12000',
]

/** Sets {@link engineFlags} for this process and its threads. */
export function setEngineFlags(): void {
  for (const flag of engineFlags) setFlagsFromString(flag)
}
