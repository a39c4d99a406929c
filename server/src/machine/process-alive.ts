/**
 * Whether a process with this id runs, of any account; 0 is none. It may be another one than meant: ids are given
 * again.
 */
export function isProcessAlive(pid: number): boolean {
  if (pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * The same of another process. An id that is this process's own was a former one's: in a container each run has the
 * same.
 */
export const isOtherProcessAlive = (pid: number): boolean => pid !== process.pid && isProcessAlive(pid)
