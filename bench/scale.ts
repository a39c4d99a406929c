import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { testTemplates } from '../server/test/support/berth.ts'
import { removeInstallation } from '../server/test/support/engine/engine.ts'
import { startMailServer, type MailServer } from '../server/test/support/mail/mail-server.ts'
import { runProgram, type Program } from '../server/test/support/program.ts'
import { installationName, openDatabase } from '../server/src/store/database.ts'
import { launchDirectly, recipeOf, removeDirectly } from './engine-direct.ts'
import { median, milliseconds, report, timed } from './figures.ts'
import { BenchLifetime } from './lifetime.ts'

/**
 * The cost of list, launch and gateway while 1, 100 and 500 containers run, and Berth's recovery time after both
 * processes were killed: `npm run bench:scale [sizes]`, for example `npm run bench:scale 1,50`. Sizes must ascend.
 */
const sizes = (process.argv[2] ?? '1,100,500').split(',').map(Number)
/** Simultaneous sign-ups. */
const parallel = 20
/** Kills at each size. */
const kills = 3

interface Person {
  readonly token: string
  readonly slug: string
}

interface Figures {
  readonly list: number
  readonly relaunch: number
  readonly launch: number
  readonly engine: number
  readonly gateway: number
  readonly ready: number
}

await using lifetime = new BenchLifetime()
const mail = await startMailServer()
lifetime.after(() => mail.close())
const dataDir = mkdtempSync(path.join(tmpdir(), 'berth-scale-'))
const env = {
  SMTP_URL: mail.url,
  CONTAINER_TEMPLATES: await testTemplates({ memory: '16m' }),
  JWT_ACCESS_TOKEN_EXPIRES: '86400',
  LOG_LEVEL: 'warn',
}
const people: Person[] = []
lifetime.after(cleanUp)
let program = start()
const figures = new Map<number, Figures>()
for (const size of sizes) {
  const { ms } = await timed(() => grow(size))
  process.stdout.write(`${size} containers run after another ${(ms / 1000).toFixed(1)} s\n`)
  figures.set(size, await measure())
}
show(figures)

function start(): Program {
  return runProgram(lifetime as Parameters<typeof runProgram>[0], env, dataDir)
}

/** Signing up launches a container; its status is polled, because the sign-in does not wait for it. */
async function grow(size: number): Promise<void> {
  while (people.length < size) {
    const batch = Math.min(parallel, size - people.length)
    const names = Array.from({ length: batch }, (_, each) => `person${people.length + each}@bench.test`)
    people.push(...(await Promise.all(names.map((name) => signUp(program, mail, name)))))
  }
  await Promise.all(people.slice(-parallel).map((person) => launch(person, 'dev')))
}

async function signUp(where: Program, server: MailServer, email: string): Promise<Person> {
  const headers = { 'content-type': 'application/json' }
  await asked(where.fetch('/api/auth/signup', undefined, { method: 'POST', headers, body: JSON.stringify({ email }) }))
  const verified = await asked(where.fetch(`/api/auth/verify-signup?token=${server.tokenFor(email)}`))
  const { access_token: token, user } = verified as { access_token: string; user: { slug: string } }
  return { token, slug: user.slug }
}

async function measure(): Promise<Figures> {
  const person = people.at(-1) as Person
  const list = await repeated(60, () => asked(program.fetch('/api/user/containers', person.token)))
  const relaunch = await repeated(60, () => launch(person, 'dev'))
  const gateway = await repeated(300, () => page(person))
  const pairs = await inTurns(person)
  return { list, relaunch, gateway, ...pairs, ready: await comeBack(person) }
}

/** A second container, by Berth and by the engine alone, in turns: the engine itself slows down as it fills. */
async function inTurns(person: Person): Promise<Pick<Figures, 'launch' | 'engine'>> {
  const recipe = await recipeOf(await launch(person, 'prod'))
  const through: number[] = []
  const direct: number[] = []
  for (let each = 0; each < 15; each++) {
    await removeDirectly(await launch(person, 'prod'))
    await sleep(100)
    through.push((await timed(() => launch(person, 'prod'))).ms)
    const name = `bench-direct-${each}`
    const { ms, value } = await timed(() => launchDirectly(name, recipe(name)))
    direct.push(ms)
    await removeDirectly(value)
  }
  await removeDirectly(await launch(person, 'prod'))
  return { launch: median(through), engine: median(direct) }
}

/** From the start of the program to `/readyz` 200, after both processes were killed; the containers keep running. */
async function comeBack(person: Person): Promise<number> {
  const times: number[] = []
  for (let each = 0; each < kills; each++) {
    const api = program.api()
    program.process.kill('SIGKILL')
    process.kill(api, 'SIGKILL')
    await program.ended()
    const { ms } = await timed(async () => {
      program = start()
      while ((await program.fetch('/readyz').catch(() => undefined))?.status !== 200) await sleep(10)
    })
    times.push(ms)
    await page(person)
  }
  return median(times)
}

async function page({ slug, token }: Person): Promise<void> {
  const response = await program.fetch(`/${slug}-dev/`, token)
  const text = await response.text()
  if (response.status !== 200) throw new Error(`the gateway answered ${response.status}: ${text}`)
}

/** @returns the engine's id */
async function launch({ token }: Person, type: string): Promise<string> {
  const answer = await asked(program.fetch(`/api/container/launch/${type}`, token, { method: 'POST' }))
  return (answer as { container_id: string }).container_id
}

async function asked(answer: Promise<Response>): Promise<unknown> {
  const response = await answer
  const body: unknown = await response.json()
  if (response.status !== 200) throw new Error(`answered ${response.status}: ${JSON.stringify(body)}`)
  return body
}

/** @returns median in ms */
async function repeated(times: number, work: () => Promise<unknown>): Promise<number> {
  const all: number[] = []
  for (let each = 0; each < times; each++) all.push((await timed(work)).ms)
  return median(all)
}

function show(figures: ReadonlyMap<number, Figures>): void {
  const first = figures.get(sizes[0] ?? 1) as Figures
  for (const [size, each] of figures) {
    const against = (name: keyof Figures) => `${milliseconds(each[name])} (${(each[name] / first[name]).toFixed(2)})`
    report(`${size} containers run (in brackets: against ${sizes[0]})`, {
      'list of one person, median': against('list'),
      'launch of what runs, median': against('relaunch'),
      'page through the gateway, median': against('gateway'),
      'launch, median': against('launch'),
      'the same by the engine alone, median': against('engine'),
      'launch against the engine alone': (each.launch / each.engine).toFixed(3),
      'ready again after kill -9, median (at most 3 s)': milliseconds(each.ready),
    })
  }
}

async function cleanUp(): Promise<void> {
  const database = await openDatabase(null, dataDir)
  const installation = await installationName(database.db, () => 'none')
  await database.close()
  await removeInstallation(installation)
  rmSync(dataDir, { recursive: true, force: true })
}
