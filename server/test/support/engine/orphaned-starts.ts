import { readdirSync, readFileSync } from 'node:fs'

/**
 * Ends what a dockerd that was killed or stopped between creation and start of a container leaves behind: a `runc init` that
 * waits for its start for ever and holds the container's address. Engine 20.10 gives the same address out again, and the next
 * container that gets it is not reached (seen in a run of `npm run chaos`). To be called while that dockerd is down.
 * @param folder of the dockerd, which the state folder of its containers is in
 */
export function endOrphanedStarts(folder: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    if (isStartIn(pid, folder)) process.kill(Number(pid), 'SIGKILL')
}

function isStartIn(pid: string, folder: string): boolean {
  try {
    return (
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('runc\0init') &&
      readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`_LIBCONTAINER_STATEDIR=${folder}/`)
    )
  } catch {
    // It has ended in the meantime.
    return false
  }
}
