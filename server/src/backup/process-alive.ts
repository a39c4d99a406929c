/**
 * Whether another process with this id runs; 0 is none. An id that is this process's own was a former one's: in a container
 * each run has the same.
 */
export function isOtherProcessAlive(pid: number): boolean {
  if (pid <= 0 || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
