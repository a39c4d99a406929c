import type { EngineContext } from './engine-context.ts'

/**
 * Learns the host's size, makes sure of the networks, and sets the host's rules, which may fail: `host` tells of it.
 * @throws {RuntimeError} as `Networks.ensure`
 */
export async function prepare(engine: EngineContext): Promise<void> {
  try {
    await Promise.all([engine.networks.ensure(), engine.host.facts()])
  } finally {
    // Also when a network could not be made: there may be containers on others.
    await engine.rules.ensure(engine.networks.interfaces())
  }
}
