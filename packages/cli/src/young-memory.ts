import { setFlagsFromString } from 'node:v8'

/**
 * Short-lived objects are cleared out in small steps: V8 would otherwise let the young generation of a process that has
 * much to do, of its threads too, and with it the whole process, grow by tens of megabytes for little gain.
 */
export function limitYoungMemory(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--min-semi-space-size=4')
}
