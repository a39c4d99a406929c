import { readinessTarget } from '@berth/gateway/basics/readiness-request.ts'
import { editorPort, type IdleProbe, type Template } from '#/templates/template.ts'
import { ProbeConnection, type JsonAnswer } from './probe-connection.ts'

/** Where an application listens. */
export interface ProbedApp {
  readonly host: string
  readonly port: number
  /** First segment of the container's path. */
  readonly prefix: string
}

/** What an application says about its use. */
export interface ProbeAnswer {
  /** ms since 1970: the last use, or now while it is used; 0 when it knows of none. */
  readonly usedAt: number
}

/** What says how an application is asked. */
export type ProbedTemplate = Pick<Template, 'scheme' | 'stripPrefix'> & { readonly idleProbe: IdleProbe }

/**
 * Asks an application whether it is used. What it answers is the work of its user: nothing in it is followed, and it is read
 * up to a limit of bytes and time.
 * @param hasOwnHost subdomain routing
 * @param kept the way to this application, which the caller closes in the end; left out: of this question alone
 * @returns undefined for no answer, or one that says nothing; never rejects
 */
export async function askIdleProbe(
  { idleProbe, stripPrefix, scheme }: ProbedTemplate,
  { host, port, prefix }: ProbedApp,
  hasOwnHost: boolean,
  kept?: ProbeConnection,
): Promise<ProbeAnswer | undefined> {
  const connection = kept ?? new ProbeConnection()
  // A server of another name may count its connections as use, as code-server does, or serve one at a time.
  const isKept = kept !== undefined && idleProbe === 'jupyter'
  const app: Asked = {
    get: (...paths) => {
      const targets = paths.map((path) => readinessTarget(path, prefix, hasOwnHost || stripPrefix))
      return connection.get({ host, port, usesTls: scheme === 'https' }, targets, isKept)
    },
    getAt: (other) => connection.get({ host, port: other, usesTls: false }, ['/'], false),
  }
  const usedAt = await askers(idleProbe)(app).catch(() => undefined)
  return usedAt === undefined ? undefined : { usedAt: Math.min(usedAt, Date.now()) }
}

/** Answers in the order of what is asked; those that are missing, and all behind one that is none, are left out. */
interface Asked {
  /** At these paths of the application. */
  get(...paths: string[]): Promise<readonly JsonAnswer[]>
  /** At another port of its container. */
  getAt(port: number): Promise<readonly JsonAnswer[]>
}
type Ask = (app: Asked) => Promise<number | undefined>

function askers(probe: IdleProbe): Ask {
  if (probe === 'jupyter') return askJupyter
  if (probe === 'code-server') return askCodeServer
  return async (app) => timeOf(valueAt((await app.get(probe.path))[0]?.value, probe.active))
}

/**
 * Kernels and terminals. `last_activity` of `/api/status` says nothing: the polls of a page that is left open count there.
 * Source: Jupyter Server's REST API; `no_track_activity` keeps these requests from counting as well.
 */
async function askJupyter(app: Asked): Promise<number | undefined> {
  const [first, terminals] = await app.get('api/kernels?no_track_activity=1', 'api/terminals?no_track_activity=1')
  const kernels = first?.value
  if (!Array.isArray(kernels) || terminals === undefined) return undefined
  if (kernels.some((kernel) => fieldOf(kernel, 'execution_state') === 'busy')) return Date.now()
  // A server without terminals has no such path.
  const all = Array.isArray(terminals.value) ? [...kernels, ...terminals.value] : kernels
  return all.reduce((last: number, each) => Math.max(last, timeOf(fieldOf(each, 'last_activity')) ?? 0), 0)
}

/**
 * By the extension, which knows whether a person is at a page. Without it `/healthz` has the last heartbeat: that of a request, and
 * every minute while a page is open. Source: heart.ts of code-server.
 */
async function askCodeServer(app: Asked): Promise<number | undefined> {
  const said = timeOf(fieldOf((await app.getAt(editorPort))[0]?.value, 'usedAt'))
  if (said !== undefined) return said
  const health = (await app.get('healthz'))[0]?.value
  const status = fieldOf(health, 'status')
  return status === 'alive' || status === 'expired' ? timeOf(fieldOf(health, 'lastHeartbeat')) : undefined
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

/** What a JSON pointer leads to (RFC 6901, 4); undefined when it leads nowhere. */
function valueAt(value: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce((found, token) => fieldOf(found, token.replaceAll('~1', '/').replaceAll('~0', '~')), value)
}

/** Numbers from here on are seconds since 1970, and thousand times as large ones ms; what is smaller is a count. */
const leastTime = 1_000_000_000

/** ms since 1970: of a time, or now for a count, a list or a map that is not empty. Undefined for anything else. */
function timeOf(value: unknown): number | undefined {
  if (value === null) return 0
  if (typeof value === 'boolean') return value ? Date.now() : 0
  if (typeof value === 'string') return ofText(value)
  if (typeof value === 'object') return Object.keys(value).length > 0 ? Date.now() : 0
  if (typeof value !== 'number' || value < 0) return undefined
  if (value < leastTime) return value > 0 ? Date.now() : 0
  return value < leastTime * 100 ? value * 1_000 : value
}

/** RFC 3339; without a zone it is UTC. */
function ofText(value: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(value)) return undefined
  const time = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/i.test(value) ? value : `${value}Z`)
  return Number.isNaN(time) ? undefined : Math.max(time, 0)
}
