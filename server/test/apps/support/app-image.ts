import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { Pool } from 'undici'
import { parseEngineAddress } from '#/engines/docker/engine-address.ts'
import { askEngine, engineAddress } from '#test/support/engine/engine.ts'
import { addLibraries } from './add-libraries.ts'

const recipes = path.resolve(import.meta.dirname, '..')
const scratch = path.resolve(import.meta.dirname, '../../../../.berth/apps')

/** What the recipes begin from: the demo image, which is made of this machine's node, its libraries and BusyBox. */
const base = 'berth-demo-dev:latest'

/** In ms. Half a gigabyte of small files takes an old engine about half a minute. */
const buildLimit = 300_000

/**
 * Makes sure that the engine has the image of an app, as its recipe says now: the folder beside this one's with its name,
 * copied to a scratch folder, completed there, and built by the `Dockerfile` in it. No registry of images is asked.
 * @param complete puts into the scratch folder what is not kept here: the app itself, by a package manager
 * @returns the image's name @throws {Error} when the app cannot be had, or with the engine's words
 */
export async function appImage(app: string, complete: (folder: string) => Promise<void>): Promise<string> {
  const content = await fingerprint(app)
  const image = `berth-app-${app}:${content}`
  if (await isBuilt(image)) return image
  const folder = path.join(scratch, app)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  cpSync(path.join(recipes, app), folder, { recursive: true })
  await complete(folder)
  await addLibraries(folder)
  await build(image, folder)
  await removeOlder(app, image)
  return image
}

/** Changes whenever the image would; the lock file in the recipe stands for the app, and what completes it is beside us. */
async function fingerprint(app: string): Promise<string> {
  const { Id } = await askEngine<{ Id: string }>('GET', `/images/${base}/json`)
  const hash = createHash('sha256').update(Id)
  const files = globSync([`${app}/**`, 'support/{app-image,add-libraries,npm-app,install-*}.ts'], { cwd: recipes })
  for (const file of files.sort().map((name) => path.join(recipes, name)))
    if (statSync(file).isFile()) hash.update(`\0${path.basename(file)}\0`).update(readFileSync(file))
  return hash.digest('hex').slice(0, 12)
}

const isBuilt = (image: string) =>
  askEngine('GET', `/images/${image}/json`).then(
    () => true,
    () => false,
  )

async function removeOlder(app: string, image: string): Promise<void> {
  const filters = JSON.stringify({ reference: [`berth-app-${app}`] })
  const found = await askEngine<{ RepoTags: string[] | null }[]>('GET', '/images/json', { query: { filters } })
  for (const tag of found.flatMap(({ RepoTags }) => RepoTags ?? []).filter((each) => each !== image))
    // In use by another run: the next build takes it away.
    await askEngine('DELETE', `/images/${tag}`).catch(() => undefined)
}

/** Streams the folder to the engine: an app has too many megabytes for a string. */
async function build(image: string, folder: string): Promise<void> {
  const { origin, ...where } = parseEngineAddress(engineAddress)
  const engine = new Pool(origin, { ...where, headersTimeout: buildLimit, bodyTimeout: buildLimit })
  const tar = spawn('tar', ['-c', '-C', folder, '.'], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const answer = await engine.request({
      method: 'POST',
      path: `/build?${new URLSearchParams({ t: image, rm: 'true' }).toString()}`,
      headers: { 'content-type': 'application/x-tar' },
      body: tar.stdout,
      signal: AbortSignal.timeout(buildLimit),
    })
    const lines = (await answer.body.text()).trim()
    if (answer.statusCode !== 200 || lines.includes('"error"'))
      throw new Error(`image ${image}: ${lines.slice(-1_000)}`)
  } finally {
    tar.kill()
    await engine.close()
  }
}
