import { readErrorCode } from '@skillstead/protocol'

/**
 * Whether a process with this id runs on this machine, of any user. The id of a process that ended may belong to a new
 * process.
 */
export function isRunning(pid: number): boolean {
  try {
    // The id 0 would mean the group of this process.
    return pid > 0 && process.kill(pid, 0)
  } catch (error) {
    return readErrorCode(error) === 'EPERM'
  }
}
