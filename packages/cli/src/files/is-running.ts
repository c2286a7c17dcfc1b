import { readErrorCode } from '@skillstead/protocol'

/**
 * Whether a process with this id runs on this machine, of any user. A new process may have the id of one that ended.
 */
export function isRunning(pid: number): boolean {
  try {
    // The id 0 would mean the group of this process.
    return pid > 0 && process.kill(pid, 0)
  } catch (error) {
    return readErrorCode(error) === 'EPERM'
  }
}
