import { readdir, readFile } from 'node:fs/promises'

/** Files that a container may have open: enough for what serves one person, and a stop to what leaks them. */
export const openFilesLimit = 65_536

/** Programs that start containers; what they may have is passed on. */
const starters = new Set(['dockerd', 'containerd'])

/**
 * Whether the engine of this machine can give a container `openFilesLimit`. A program without CAP_SYS_RESOURCE in the machine's
 * own namespace, as in some virtual machines and in rootless Docker, cannot give more than it has itself, and every start
 * would fail ("error setting rlimit type 7"). Containers without a limit get the engine's.
 * @param proc the kernel's process information; another folder in tests
 * @returns false, too, when no such program is seen
 */
export async function canRaiseOpenFiles(proc = '/proc'): Promise<boolean> {
  const pids = (await readdir(proc).catch(() => [])).filter((name) => /^\d+$/.test(name))
  const limits = await Promise.all(pids.map((pid) => hardLimit(`${proc}/${pid}`)))
  const known = limits.filter((limit) => limit !== undefined)
  return known.length > 0 && known.every((limit) => limit >= openFilesLimit)
}

/** Of a program that starts containers; undefined of any other, and of one that has ended meanwhile. */
async function hardLimit(folder: string): Promise<number | undefined> {
  try {
    if (!starters.has((await readFile(`${folder}/comm`, 'utf8')).trim())) return undefined
    const [, hard] = /^Max open files +\S+ +(\S+)/m.exec(await readFile(`${folder}/limits`, 'utf8')) ?? []
    return hard === 'unlimited' ? Infinity : Number(hard)
  } catch {
    return undefined
  }
}
