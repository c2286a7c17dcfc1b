import { execFileSync } from 'node:child_process'

/** Whether this machine has a program: whether it ends in order with these arguments. */
export function canRun(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
