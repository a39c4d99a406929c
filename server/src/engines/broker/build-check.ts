import { ownImagePrefix } from '#/engines/image-builds.ts'
import type { Allowances } from './create-check.ts'
import { OwnNames, Refused, type EngineObjects, type InstallationLock } from './installation-objects.ts'

/** Parameters that `docker/image-builds.ts` sends. Not among them: URLs of contexts, mounts, hosts, caches of others. */
export const buildParameters = [
  'version',
  'dockerfile',
  't',
  'rm',
  'forcerm',
  'nocache',
  'networkmode',
  'memory',
  'memswap',
  'cpuperiod',
  'cpuquota',
  'cpushares',
] as const

export interface BuildCheckParts {
  readonly allowances: Pick<Allowances, 'mayBuild'>
  readonly installation: InstallationLock
  readonly objects: Pick<EngineObjects, 'network' | 'hostMemory'>
}

/**
 * Checks builds of images. The Dockerfile goes by as a part of the context, and is not read here: what it reads, an API
 * that was taken over could choose, so the operator has to allow builds at all (`BROKER_ALLOW=builds`).
 */
export class BuildCheck {
  readonly #parts: BuildCheckParts
  readonly #names: OwnNames

  constructor(parts: BuildCheckParts) {
    this.#parts = parts
    this.#names = new OwnNames(parts.installation)
  }

  /** @throws {Refused} for a build beyond the networks, names and limits of this installation */
  async check(query: URLSearchParams): Promise<void> {
    const { allowances, installation, objects } = this.#parts
    if (!allowances.mayBuild) throw new Refused('it builds an image, which BROKER_ALLOW does not have (builds)')
    const { name } = installation
    if (name === undefined) throw new Refused('no installation has used this broker yet')
    if (query.get('version') !== '1') throw new Refused('it asks for BuildKit, whose steps keep to no network')
    const tag = query.get('t') ?? ''
    if (!tag.startsWith(ownImagePrefix(name))) throw new Refused(`Berth gives no image the name ${tag}`)
    const network = query.get('networkmode') ?? ''
    this.#names.requireBuildNetwork(network)
    if ((await objects.network(network)) === undefined) throw new Refused(`network ${network} does not exist`)
    const [memory, swap] = [query.get('memory'), query.get('memswap')]
    const isLimited = /^[1-9]\d*$/.test(memory ?? '') && Number(memory) <= (await objects.hostMemory())
    if (!isLimited || memory !== swap) throw new Refused('its memory has no limit below that of the host')
    for (const limit of ['cpuperiod', 'cpuquota'])
      if (!/^[1-9]\d*$/.test(query.get(limit) ?? '')) throw new Refused(`its CPU time has no limit (${limit})`)
    for (const flag of ['rm', 'forcerm', 'nocache'])
      if (query.get(flag) !== 'true') throw new Refused(`it leaves containers or layers behind (${flag})`)
  }
}
