import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { scratch } from './programs.ts'

const folder = path.join(scratch, 'profiles')
const shown = 40

/** Node options that write a profile at the end of a process. */
export const profileOptions = `--cpu-prof --cpu-prof-dir=${folder} --cpu-prof-interval=200`

/** Removes profiles of earlier runs. */
export async function emptyProfiles(): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
}

/** The used part of a .cpuprofile. */
interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly samples: readonly number[]
  /** Microseconds since the previous sample. */
  readonly timeDeltas: readonly number[]
}

/** The functions with the most self time over all profiles, in per cent of non-idle time. */
export async function topFunctions(): Promise<string> {
  const spent = new Map<string, number>()
  for (const file of await readdir(folder)) {
    addTo(spent, JSON.parse(await readFile(path.join(folder, file), 'utf8')) as Profile)
  }
  spent.delete('(idle)')
  const sum = [...spent.values()].reduce((total, each) => total + each, 0)
  const top = [...spent].sort(([, a], [, b]) => b - a).slice(0, shown)
  return top.map(([name, time]) => `${((100 * time) / sum).toFixed(1).padStart(6)} %  ${name}`).join('\n')
}

function addTo(spent: Map<string, number>, { nodes, samples, timeDeltas }: Profile): void {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]))
  for (const [index, id] of samples.entries()) {
    const name = names.get(id) ?? '?'
    spent.set(name, (spent.get(name) ?? 0) + (timeDeltas[index] ?? 0))
  }
}

function nameOf({ functionName, url, lineNumber }: Profile['nodes'][number]['callFrame']): string {
  const name = functionName || '(anonymous)'
  return url === '' ? name : `${name}  ${url.replace(/^.*\/server\/src\//, '')}:${lineNumber + 1}`
}
