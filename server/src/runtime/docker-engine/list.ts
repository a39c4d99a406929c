import type { Instance } from '#/runtime/runtime.ts'
import { call, limits } from './client.ts'
import type { Engine } from './engine.ts'
import { fingerprintFrom, labelFilter, ownerFrom, portFrom } from './labels.ts'

export async function list({ docker, instance, network }: Engine, userId?: number): Promise<Instance[]> {
  const found = await call('list containers', limits.read, (abortSignal) =>
    docker.listContainers({ all: true, filters: { label: labelFilter(instance, userId) }, abortSignal }),
  )
  return found.map(({ Id, Names, State, Labels, NetworkSettings }) => ({
    id: Id,
    name: (Names[0] ?? '').slice(1),
    owner: ownerFrom(Labels, instance),
    state: State,
    address: NetworkSettings.Networks[network]?.IPAddress || null,
    port: portFrom(Labels),
    exitCode: null,
    fingerprint: fingerprintFrom(Labels),
  }))
}
