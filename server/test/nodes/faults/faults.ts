import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { waitFor } from '../../support/program.ts'
import type { FailoverDatabase } from './failover-database.ts'
import type { Machines } from './machines.ts'
import type { NextVersion } from './next-version.ts'
import type { NodeMachine } from './node-machine.ts'
import type { People } from './people.ts'
import type { FaultKind } from './plan.ts'
import type { Staleness } from './staleness.ts'

/** What a fault is done to. */
export interface FaultScene {
  readonly machines: Machines
  readonly database: FailoverDatabase
  readonly leader: NodeMachine
  readonly follower: NodeMachine
  /** Resolves when every node serves by the present state. */
  readonly people: People
  readonly untilCurrent: () => Promise<void>
  readonly staleness: Staleness
  readonly next: () => NextVersion
}

/** Breaks it for a time, and mends it. Resolves when nothing is broken any more. */
export const faults: Readonly<Record<FaultKind, (scene: FaultScene, duration: number) => Promise<void>>> = {
  'nodes cut from each other': async ({ machines, leader, follower }, duration) => {
    await Promise.all([machines.deafen(leader.name, follower.address), machines.deafen(follower.name, leader.address)])
    await sleep(duration)
    await heal(machines, leader, follower)
  },
  'follower does not hear the leader': async ({ machines, leader, follower }, duration) => {
    await machines.deafen(follower.name, leader.address)
    await sleep(duration)
    await heal(machines, follower)
  },
  'leader cut from the database': ({ leader, ...scene }, duration) => cutFromDatabase(scene, leader, duration),
  'follower cut from the database': ({ follower, ...scene }, duration) => cutFromDatabase(scene, follower, duration),
  'database restarted': ({ database }, duration) => database.restart(duration),
  'database fails over': ({ database }, duration) => database.failOver(duration),
  'follower stays at the earlier primary': async (scene, duration) => {
    await splitDatabase(scene, duration)
    assert.ok(
      scene.staleness.allowed > 0,
      'the follower answered nothing from the earlier primary, so that this showed nothing',
    )
  },
  'follower stays at the earlier primary, and the leader begins anew': splitDatabase,
  'leader killed': ({ leader }, duration) => killAndStart(leader, duration),
  'API process of the leader killed': async ({ leader }, duration) => {
    leader.killApi()
    await sleep(duration)
  },
  'follower killed': ({ follower }, duration) => killAndStart(follower, duration),
  'leader frozen': ({ leader }, duration) => freeze(leader, duration),
  'follower frozen': ({ follower }, duration) => freeze(follower, duration),
  'nodes restarted one after the other': async ({ leader, follower, untilCurrent }, duration) => {
    for (const node of [follower, leader]) {
      await node.stop()
      await sleep(duration)
      node.start()
      await untilCurrent()
    }
  },
  'nodes upgraded one after the other': async ({ leader, follower, database, untilCurrent, next }, duration) => {
    const { folder, table } = next()
    const isChanged = async () => (await database.query('select to_regclass($1) as found', [table]))[0]?.found !== null
    await follower.stop()
    await sleep(duration)
    follower.start(folder)
    await untilCurrent()
    assert.equal(await isChanged(), false, 'the tables were changed beside a node of the old version')
    await leader.stop()
    await waitFor('the new version to change the tables', isChanged, 30_000)
    leader.start()
    assert.equal(await leader.ended(), 1)
    assert.match(leader.output(), /a newer version of Berth changed the store/)
    leader.start(folder)
    await untilCurrent()
  },
}

async function heal(machines: Machines, ...nodes: NodeMachine[]): Promise<void> {
  await Promise.all(nodes.map(({ name }) => machines.heal(name)))
}

async function cutFromDatabase(
  { machines, database }: Pick<FaultScene, 'machines' | 'database'>,
  node: NodeMachine,
  duration: number,
): Promise<void> {
  await machines.deafen(node.name, ...database.addresses)
  await sleep(duration)
  await machines.heal(node.name)
}

/** How long the earlier primary runs on, in ms: longer than a follower may answer without a confirmation. */
const splitFor = 15_000

/** The leader changes something all the time, so that what the follower answers from the earlier primary is of before. */
async function splitDatabase({ database, leader, follower, staleness, people }: FaultScene, duration: number) {
  const over = new AbortController()
  const inviting = people.invite(leader, over.signal)
  staleness.begin()
  try {
    const { cutAt, end } = await database.split({ cut: leader, stale: follower }, duration)
    await sleep(splitFor)
    await end()
    staleness.judge(cutAt)
  } finally {
    over.abort()
    await inviting
  }
}

async function killAndStart(node: NodeMachine, duration: number): Promise<void> {
  await node.kill()
  await sleep(duration)
  node.start()
}

async function freeze(node: NodeMachine, duration: number): Promise<void> {
  node.freeze()
  await sleep(duration)
  node.thaw()
}
