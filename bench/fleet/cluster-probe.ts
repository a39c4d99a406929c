import type { V1Pod } from '@kubernetes/client-node'
import { openClusterAccess } from '../../server/src/engines/kubernetes/cluster-access.ts'
import { ClusterClient } from '../../server/src/engines/kubernetes/cluster-client.ts'
import type { Pod, WatchLine } from '../../server/src/engines/kubernetes/api-objects.ts'
import { podManifest } from '../../server/src/engines/kubernetes/container-create.ts'
import { stateOf } from '../../server/src/engines/kubernetes/pod-state.ts'
import { containerSpec } from '../../server/src/containers/launch/build-container-spec.ts'
import { readTemplates } from '../../server/src/templates/read-templates.ts'
import { kubeconfig } from '../../server/test/support/cluster/cluster-api.ts'

/** In ms. */
const limit = 120_000

interface Told {
  lines: number
  readonly running: PromiseWithResolvers<number>
  readonly gone: PromiseWithResolvers<number>
}

/** A watch over all pods of a namespace, and answers whose time matters. */
export class ClusterProbe {
  readonly #client: ClusterClient
  readonly #namespace: string
  readonly #end = new AbortController()
  readonly #pods = new Map<string, Told>()

  private constructor(client: ClusterClient, namespace: string) {
    this.#client = client
    this.#namespace = namespace
  }

  /** On the cluster of `BERTH_TEST_CLUSTER`. @returns once the watch is open */
  static async open(namespace: string): Promise<ClusterProbe> {
    const probe = new ClusterProbe(new ClusterClient(await openClusterAccess(kubeconfig)), namespace)
    await probe.#watch()
    return probe
  }

  /** Ms until the answer begins; it is read to its end afterwards. */
  async untilAnswered(target: string): Promise<number> {
    const [path = '', query = ''] = target.split('?')
    const began = performance.now()
    const answer = await this.#client.stream({
      what: 'list',
      method: 'GET',
      path,
      query: Object.fromEntries(new URLSearchParams(query)),
      timeout: limit,
      kind: 'query',
      signal: this.#end.signal,
    })
    const ms = performance.now() - began
    for await (const _ of answer);
    return ms
  }

  /** An answer of any format. */
  async read(target: string): Promise<void> {
    await this.untilAnswered(target)
  }

  /** When the watch told that the pod runs, by `performance.now()`. */
  async started(name: string): Promise<number> {
    return this.#told(name).running.promise
  }

  /** When the watch told that the pod is gone. */
  async gone(name: string): Promise<number> {
    return this.#told(name).gone.promise
  }

  /** How many changes of this pod the watch has told of. */
  linesOf(name: string): number {
    return this.#told(name).lines
  }

  close(): void {
    this.#end.abort()
  }

  #told(name: string): Told {
    const told = this.#pods.get(name) ?? {
      lines: 0,
      running: Promise.withResolvers<number>(),
      gone: Promise.withResolvers<number>(),
    }
    this.#pods.set(name, told)
    return told
  }

  async #watch(): Promise<void> {
    const path = `/api/v1/namespaces/${this.#namespace}/pods`
    const call = { what: 'watch', method: 'GET', path, query: { watch: 'true' }, timeout: limit } as const
    const lines = await this.#client.follow<WatchLine<Pod>>({ ...call, kind: 'health', signal: this.#end.signal })
    void (async () => {
      for await (const { type, object } of lines) {
        const told = this.#told(object.metadata.name)
        told.lines++
        if (type === 'DELETED') told.gone.resolve(performance.now())
        else if (stateOf(object) === 'running') told.running.resolve(performance.now())
      }
    })().catch(() => undefined)
  }
}

/** A pod as the adapter makes it. @param claim of its home; null for none */
export function podOf(
  installation: string,
  image: string,
  { number, name, claim }: { readonly number: number; readonly name: string; readonly claim: string | null },
): V1Pod {
  const template = { display_name: 'Development', description: '', image, port: 8080, memory: '32m', cpus: 0.2 }
  const { templates } = readTemplates(
    JSON.stringify({ dev: { ...template, ...(claim === null ? { home: null } : {}) } }),
    'CONTAINER_TEMPLATES',
  )
  const [dev] = templates
  if (!dev) throw new Error('there is no template')
  const user = { id: number + 1, slug: `person${number}`, email: `person${number}@fleet.test` }
  const settings = { installation, spawnerUrl: 'http://x', jwksUrl: 'http://x/jwks', jwks: '{}', signingJwks: '{}' }
  const spec = containerSpec(user, dev, settings)
  const wanted = spec.home && claim !== null ? { ...spec, home: { ...spec.home, volume: claim } } : spec
  return podManifest({ installation, helperImage: null, toolImage: null }, wanted, 8_080, { pod: name, secret: name })
}
