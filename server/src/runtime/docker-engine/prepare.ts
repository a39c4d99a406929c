import { call, limits, statusOf } from './client.ts'
import type { Engine } from './engine.ts'
import { instanceLabel } from './labels.ts'

/** Learns the host's size and makes sure of the network. */
export async function prepare(engine: Engine): Promise<void> {
  const info = (await call('ask the engine about its host', limits.read, () => engine.docker.info())) as {
    NCPU?: number
  }
  engine.cores = info.NCPU ?? engine.cores
  if (!(await hasNetwork(engine))) await createNetwork(engine)
}

async function hasNetwork({ docker, network }: Engine): Promise<boolean> {
  return call(`inspect network ${network}`, limits.read, async () => {
    try {
      await docker.getNetwork(network).inspect()
      return true
    } catch (error) {
      if (statusOf(error) === 404) return false
      throw error
    }
  })
}

/** `enable_icc=false`: neighbours on the bridge cannot reach each other, the host still reaches them all. */
async function createNetwork({ docker, network, instance }: Engine): Promise<void> {
  await call(`create network ${network}`, limits.create, async (abortSignal) => {
    try {
      await docker.createNetwork({
        Name: network,
        CheckDuplicate: true,
        Driver: 'bridge',
        Options: { 'com.docker.network.bridge.enable_icc': 'false' },
        Labels: { ...instanceLabel(instance) },
        abortSignal,
      })
    } catch (error) {
      // Another process was quicker.
      if (statusOf(error) !== 409) throw error
    }
  })
}
