import { dockerHomeArchive } from '#/engines/docker/docker-runtime.ts'
import { mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { connectTo, removeInstallation, testImage } from '../../support/engine/engine.ts'
import { ask, placeOf, type Answer, type Place, type Question, type Routing } from './http-client.ts'
import { EngineView } from './engine-view.ts'
import { FaultProxy } from '../faults/fault-proxy.ts'
import type { ChaosGroup } from '../operations/groups.ts'
import { Ledger } from '../ledger.ts'
import { ScriptedMail } from '../faults/scripted-mail-server.ts'
import { People } from './people.ts'
import { RealProgram } from './berth-program.ts'
import { viewStore, type StoreView } from './store-view.ts'
import { chaosTemplates } from './templates.ts'

/** Links that one address may ask for in an hour, in a run: enough for the people, and few enough to go over. */
export const linksPerHour = 40
/** The specification's answers of 200 come within this time whatever the engine and the mail server do; in ms. */
export const answerLimit = 10_000

export interface WorldSettings {
  /** Where data, orders and log are; it is made, and removed at the end unless something was found. */
  readonly folder: string
  /** Of the real engine, `unix:///path`. */
  readonly engineAddress: string
  /** PostgreSQL; null: SQLite. */
  readonly databaseUrl: string | null
  readonly people: number
  readonly routing: Routing
  /** By how much every limit of time is longer than what Berth promises: 1, or more where the machine may be slow. */
  readonly leniency: number
}

/** What is being done to Berth at the moment: it decides what may be expected of an answer. */
export interface Weather {
  /** A process is killed, or may be. */
  isDying: boolean
  isStoreLocked: boolean
  isEngineIll: boolean
  isMailIll: boolean
}

/** A real Berth among things that can be broken, and those who use it. */
export class World {
  readonly weather: Weather = { isDying: false, isStoreLocked: false, isEngineIll: false, isMailIll: false }
  readonly people: People
  readonly ledger = new Ledger()
  /** The class; undefined before the run has made it. */
  group: ChaosGroup | undefined
  club: ChaosGroup | undefined
  /** Answers that had to be 200 in time, and were looked at. */
  promptAnswers = 0
  /** Looks at homes that two containers had written. */
  commonHomes = 0
  readonly program: RealProgram
  readonly proxy: FaultProxy
  readonly mail: ScriptedMail
  readonly store: StoreView
  readonly engine: EngineView
  readonly settings: WorldSettings
  readonly #close: () => Promise<void>

  private constructor(settings: WorldSettings, parts: Parts, close: () => Promise<void>) {
    this.settings = settings
    this.people = new People(settings.people)
    this.program = parts.program
    this.proxy = parts.proxy
    this.mail = parts.mail
    this.store = parts.store
    this.engine = parts.engine
    this.#close = close
  }

  static async begin(settings: WorldSettings): Promise<World> {
    const { folder, engineAddress, databaseUrl, routing } = settings
    const dataDir = path.join(folder, 'data')
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    const image = await testImage()
    const [proxy, mail] = await Promise.all([FaultProxy.begin(engineAddress), ScriptedMail.begin()])
    const program = await RealProgram.begin(folder, routing, {
      DATA_DIR: dataDir,
      TMPDIR: folder,
      DOCKER_HOST: proxy.address,
      SMTP_URL: mail.url,
      MAGIC_LINK_RATE_LIMIT: String(linksPerHour),
      // Longer than all jumps of the clock together: who signed in stays so.
      JWT_ACCESS_TOKEN_EXPIRES: '604800',
      ADMIN_EMAILS: 'second@chaos.test',
      CONTAINER_TEMPLATES: chaosTemplates(image),
      HOST_RULES: 'off',
      SNAPSHOTS: 'on',
      SHARING: 'people',
      CONTAINER_ROUTING: routing,
      LOG_LEVEL: 'debug',
      ...(databaseUrl === null ? {} : { DATABASE_URL: databaseUrl }),
    })
    const store = viewStore(databaseUrl, dataDir)
    const installation = await store.installation()
    const direct = connectTo(engineAddress)
    const engine = new EngineView(direct, installation, dockerHomeArchive(installation, engineAddress))
    return new World(settings, { program, proxy, mail, store, engine }, async () => {
      await program.end()
      await Promise.all([proxy.close(), mail.close(), store.close(), engine.removeStrangers()])
      await removeInstallation(installation, direct)
    })
  }

  /** Where the app of a container is, by path or by host. */
  placeOf({ slug }: { readonly slug?: string | undefined }, type: string): Place {
    return placeOf(this.settings.routing, this.program.port, `${slug}-${type}`)
  }

  /** A request to the app of a container; never rejects. */
  ask(owner: { readonly slug?: string | undefined }, type: string, question: Question = {}): Promise<Answer> {
    const { target, host } = this.placeOf(owner, type)
    return this.call('GET', target, { ...question, host })
  }

  /** As a client; never rejects. */
  async call(method: string, target: string, question: Question = {}): Promise<Answer> {
    const expectation = this.#expectationOf(`${method} ${target}`)
    const answer = await ask(this.program.port, method, target, question)
    if (expectation && this.#expectationOf(`${method} ${target}`)) this.#judge(expectation, method, target, answer)
    return answer
  }

  /** Takes it all down. @param isKept leaves log and data where they are */
  async close(isKept: boolean): Promise<void> {
    await this.#close()
    if (!isKept) await rm(this.settings.folder, { recursive: true, force: true })
  }

  /** Nothing is expected of what was asked or answered while a process dies or the store is locked. */
  #expectationOf(request: string): Expectation | undefined {
    const { isDying, isStoreLocked } = this.weather
    return isDying || isStoreLocked ? undefined : expectations.find(({ of }) => of.test(request))
  }

  #judge({ limit, mayFail }: Expectation, method: string, target: string, answer: Answer): void {
    const { status, took, text, failure } = answer
    this.promptAnswers++
    const what = `${method} ${target.replace(/token=.*/, 'token=...')}`
    if ((status >= 500 && !mayFail) || status === 0)
      this.ledger.complain(`${what} answered ${status}: ${failure ?? text}`)
    if (took > limit * this.settings.leniency)
      this.ledger.complain(`${what} answered ${status} after ${Math.round(took)} ms`)
  }
}

type Parts = Pick<World, 'program' | 'proxy' | 'mail' | 'store' | 'engine'>

/** How soon something is answered, whatever engine and mail server do. */
interface Expectation {
  readonly of: RegExp
  /** ms */
  readonly limit: number
  /** Whether it may be answered with a 5xx when engine or mail server fail. */
  readonly mayFail: boolean
}

const expectations: Expectation[] = [
  /^GET \/api\/auth\/verify-/,
  /^POST \/api\/auth\/logout$/,
  /^GET \/api\/user\//,
  /^GET \/api\/container\/status$/,
  /^GET \/api\/admin\/users/,
  /^POST \/api\/admin\/(users|containers)\//,
  /^GET \/healthz$/,
].map((of): Expectation => ({ of, limit: answerLimit, mayFail: false }))
expectations.push(
  { of: /^POST \/api\/auth\/(signup|login)$/, limit: 15_000, mayFail: true },
  { of: /^POST \/api\/container\/(launch|restart)/, limit: 190_000, mayFail: true },
  { of: /^DELETE \/api\/admin\//, limit: 30_000, mayFail: true },
)
