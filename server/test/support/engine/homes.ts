import { unpackTar } from 'modern-tar'
import type { Berth, Person } from '../berth.ts'
import { askEngine, testImage } from './engine.ts'
import { waitLimit } from '../extent.ts'

/** What tests of homes look at: the engine's volumes, and who one is in by what was written into it first. */

/** Two types whose containers write a random word into their home the first time, and serve it as `/home.txt`. */
export async function markedTemplates(): Promise<string> {
  const script = '[ -f home.txt ] || cat /proc/sys/kernel/random/uuid > home.txt; exec httpd -f -p 8080 -h /home/berth'
  const template = { image: await testImage(), port: 8080, memory: '64m', command: ['/bin/sh', '-c', script] }
  return JSON.stringify({ dev: template, prod: template })
}

/** The word in the home of this person's container, which has to run. */
export async function markOf(person: Person, type = 'dev'): Promise<string> {
  const end = performance.now() + waitLimit(10_000)
  for (;;) {
    const reply = await person.call('GET', `/${person.slug}-${type}/home.txt`)
    if (reply.status === 200) return reply.text.trim()
    if (performance.now() > end) throw new Error(`home.txt answers ${reply.status}: ${reply.text}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Names of the homes that the engine has of this user, sorted. */
export async function homesOf({ installation }: Pick<Berth, 'installation'>, userId: number): Promise<string[]> {
  const filters = JSON.stringify({ label: [`berth.instance=${installation}`, `berth.user_id=${userId}`] })
  const { Volumes } = await askEngine<{ Volumes: { Name: string }[] | null }>('GET', '/volumes', { query: { filters } })
  return (Volumes ?? []).map(({ Name }) => Name).sort()
}

/**
 * Paths of all that is in the home of a container that does not run, sorted, folders included. The engine reads them: a container
 * that is started to look takes it five times as much.
 */
export async function pathsInHome({ installation, runtime }: Berth, userId: number, type = 'dev'): Promise<string[]> {
  const home = (await homesOf({ installation }, userId)).find((name) => name.endsWith(`-${type}`))
  const contents = runtime.homeContents()
  if (home === undefined || !contents) throw new Error(`user ${userId} has no home of ${type}`)
  const archive = contents.read(home, AbortSignal.timeout(waitLimit(60_000)))
  const entries = await unpackTar(Buffer.concat(await Array.fromAsync(archive)))
  return entries.map(({ header }) => header.name.replace(/^\.\/|\/$/g, '')).toSorted()
}
