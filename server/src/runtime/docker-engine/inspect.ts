import type { ContainerInspectInfo } from 'dockerode'
import type { Instance } from '#/runtime/runtime.ts'
import { call, limits, statusOf } from './client.ts'
import type { Engine } from './engine.ts'
import { fingerprintFrom, ownerFrom, portFrom } from './labels.ts'

/** The engine resolves names and beginnings of ids alike, so what it found is compared with what was asked. */
export async function inspect(engine: Engine, name: string): Promise<Instance | undefined> {
  const found = await look(engine, name)
  return found?.Name === `/${name}` ? toInstance(engine, found) : undefined
}

export async function inspectId(engine: Engine, id: string): Promise<Instance | undefined> {
  const found = await look(engine, id)
  return found?.Id === id ? toInstance(engine, found) : undefined
}

async function look({ docker }: Engine, reference: string): Promise<ContainerInspectInfo | undefined> {
  return call(`inspect ${reference}`, limits.read, async (abortSignal) => {
    try {
      return await docker.getContainer(reference).inspect({ abortSignal })
    } catch (error) {
      if (statusOf(error) === 404) return undefined
      throw error
    }
  })
}

function toInstance({ instance, network }: Engine, found: ContainerInspectInfo): Instance {
  const { Labels } = found.Config
  const isUp = found.State.Running
  return {
    id: found.Id,
    name: found.Name.slice(1),
    owner: ownerFrom(Labels, instance),
    state: found.State.Status,
    address: (isUp && found.NetworkSettings.Networks[network]?.IPAddress) || null,
    port: portFrom(Labels),
    exitCode: isUp ? null : found.State.ExitCode,
    fingerprint: fingerprintFrom(Labels),
  }
}
