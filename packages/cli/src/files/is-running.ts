import { readErrorCode } from '@skillstead/protocol'

/** Whether a process of this machine runs, of any user. Another one may have the id of one that ended. */
export function isRunning(pid: number): boolean {
  try {
    // 0 would be the group of this process.
    return pid > 0 && process.kill(pid, 0)
  } catch (error) {
    return readErrorCode(error) === 'EPERM'
  }
}
