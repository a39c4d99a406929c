import { askCluster } from './cluster-api.ts'
import { signIn, type Program } from '../program.ts'

interface StoredPod {
  readonly spec: { readonly nodeName?: string }
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly annotations?: Readonly<Record<string, string>>
  }
}

/** A signed-in user of a Berth on a cluster. */
export interface ClusterPerson {
  readonly slug: string
  json(path: string, method?: string): Promise<{ status: number; body: Record<string, unknown> }>
  /** What the list has of a type. */
  entry(type: string): Promise<{ type: string; status: string; container_id: string | null } | undefined>
  /** What the container answers through the gateway. */
  page(type: string, file?: string): Promise<{ status: number; text: string }>
  /** What a page that is opened now hears of a type: the last event of its status within two seconds. */
  told(type: string): Promise<{ status: string; message?: string } | undefined>
  pods(type: string): Promise<(StoredPod['metadata'] & { readonly node: string | undefined })[]>
}

/** Signs up, or in. @param namespace of the containers */
export async function signUpOnCluster(
  berth: Program,
  namespace: string,
  email: string,
  purpose: 'signup' | 'login' = 'signup',
): Promise<ClusterPerson> {
  const token = await signIn(berth, email, purpose)
  const json: ClusterPerson['json'] = async (path, method = 'GET') => {
    const response = await berth.fetch(path, token, { method, signal: AbortSignal.timeout(200_000) })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const { slug } = (await json('/api/user/me')).body.user as { slug: string }
  return {
    slug,
    json,
    entry: async (type) => {
      const { containers } = (await json('/api/user/containers')).body as {
        containers: NonNullable<Awaited<ReturnType<ClusterPerson['entry']>>>[]
      }
      return containers.find((each) => each.type === type)
    },
    page: async (type, file = '') => {
      const response = await berth.fetch(`/${slug}-${type}/${file}`, token, { signal: AbortSignal.timeout(90_000) })
      return { status: response.status, text: await response.text() }
    },
    told: async (type) => lastStatus(await firstEvents(berth, token), type),
    pods: async (type) => {
      const { items } = await askCluster<{ items: StoredPod[] }>('GET', `/api/v1/namespaces/${namespace}/pods`)
      return items
        .map(({ metadata, spec }) => ({ ...metadata, node: spec.nodeName }))
        .filter(({ annotations }) => annotations?.['berth.slug'] === slug && annotations['berth.type'] === type)
    },
  }
}

/** Text of the event stream in its first two seconds. */
async function firstEvents(berth: Program, token: string): Promise<string> {
  let text = ''
  try {
    const { body } = await berth.fetch('/api/container/events', token, { signal: AbortSignal.timeout(2_000) })
    for await (const chunk of body ?? []) text += Buffer.from(chunk).toString()
  } catch (error) {
    if ((error as Error).name !== 'TimeoutError') throw error
  }
  return text
}

function lastStatus(text: string, type: string): { status: string; message?: string } | undefined {
  const events = [...text.matchAll(/^event: container\ndata: (.*)$/gm)].map(
    ([, data = '']) => JSON.parse(data) as { type: string; status: string; message?: string },
  )
  return events.findLast((event) => event.type === type)
}
