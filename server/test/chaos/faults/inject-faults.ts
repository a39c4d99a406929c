import { setTimeout as sleep } from 'node:timers/promises'
import { breakFurther } from './inject-further-faults.ts'
import type { MailVice } from './scripted-mail-server.ts'
import type { BehindBack } from '../world/engine-view.ts'
import { idKey } from '../operations/containers.ts'
import { isFurther, type EngineCall, type Fault, type FurtherFault } from '../plan.ts'
import type { World } from '../world/world.ts'

/** An engine that a run may stop; the machine's own it may not. */
export interface Stoppable {
  start(): Promise<void>
  stop(): Promise<void>
  kill(): Promise<void>
}

const callsOf: Readonly<Record<EngineCall, RegExp>> = {
  create: /^POST .*\/containers\/create/,
  start: /^POST .*\/containers\/\w+\/start/,
  stop: /^POST .*\/containers\/\w+\/stop/,
  remove: /^DELETE .*\/containers\//,
  list: /^GET .*\/containers\/json/,
  inspect: /^GET .*\/containers\/[^/]+\/json/,
}

/**
 * Breaks what the fault says, does the work meanwhile, and mends it: after a while, also when the work still waits for it.
 * @returns when both are over
 */
export async function under(
  fault: Exclude<Fault, { kind: 'kill' }>,
  world: World,
  engine: Stoppable | undefined,
  work: () => Promise<void>,
): Promise<void> {
  const { kind } = fault
  if (kind === 'none') return work()
  if (kind.startsWith('engine-') || kind.startsWith('container-')) {
    world.ledger.unsureAbout((key) => key.startsWith('container of'))
    world.weather.isEngineIll = true
  }
  try {
    await breakAndMend(fault, world, engine, work)
  } finally {
    world.weather.isEngineIll = false
    world.weather.isMailIll = false
    world.weather.isStoreLocked = false
  }
}

async function breakAndMend(
  fault: Exclude<Fault, { kind: 'kill' | 'none' }>,
  world: World,
  engine: Stoppable | undefined,
  work: () => Promise<void>,
): Promise<void> {
  if (isFurther(fault)) return breakFurther(fault, world, work)
  if (fault.kind === 'kill-anywhere') return dieMeanwhile(world, fault, work)
  if (fault.kind === 'events-dropped') return dropEvents(world, work)
  if (fault.kind === 'store-locked') return lockMeanwhile(world, fault.time, work)
  if (fault.kind.startsWith('mail-')) return spoilMail(world, fault.kind.slice('mail-'.length) as MailVice, work)
  if ('type' in fault) return goBehindBack(world, fault, work)
  if (fault.kind === 'engine-stopped' || fault.kind === 'engine-restarted' || fault.kind === 'engine-killed')
    return stopMeanwhile(engine, fault, work)
  if (!isOnTheWay(fault)) return
  await world.proxy.harm(viceOf(fault))
  await Promise.all([work(), sleep(fault.time).then(() => world.proxy.mend())])
}

type OnTheWay = Extract<Fault, { kind: `engine-${'refused' | 'hanging' | 'cut' | 'slow' | '409' | '500'}` }>

const isOnTheWay = (fault: Exclude<Fault, FurtherFault>): fault is OnTheWay => fault.kind.startsWith('engine-')

function viceOf(fault: OnTheWay) {
  if (fault.kind === 'engine-refused') return { kind: 'refused' } as const
  if (fault.kind === 'engine-hanging') return { kind: 'hanging' } as const
  if (fault.kind === 'engine-cut') return { kind: 'cut' } as const
  if (fault.kind === 'engine-slow') return { kind: 'slow', delay: fault.delay } as const
  const status = fault.kind === 'engine-409' ? 409 : 500
  return { kind: 'status', status, calls: callsOf[fault.calls], isDone: fault.isDone } as const
}

async function dieMeanwhile(
  world: World,
  { scope, after }: Extract<Fault, { kind: 'kill-anywhere' }>,
  work: () => Promise<void>,
): Promise<void> {
  world.weather.isDying = true
  const working = work()
  await sleep(after)
  world.program.kill(scope)
  await world.program.revive(scope)
  await working
  world.weather.isDying = false
}

async function dropEvents({ proxy }: World, work: () => Promise<void>): Promise<void> {
  proxy.dropEvents()
  await work()
  proxy.dropEvents()
}

/** What the store is too busy for is refused, and what was asked for meanwhile may be slow: nothing is expected in time. */
async function lockMeanwhile({ store, weather }: World, time: number, work: () => Promise<void>): Promise<void> {
  weather.isStoreLocked = true
  await Promise.all([store.lock(time), work()])
}

async function spoilMail({ mail, weather }: World, vice: MailVice, work: () => Promise<void>): Promise<void> {
  weather.isMailIll = true
  await mail.harm(vice)
  await work()
  await mail.mend()
}

async function goBehindBack(
  world: World,
  fault: Extract<Fault, { kind: `container-${BehindBack}` }>,
  work: () => Promise<void>,
): Promise<void> {
  const { engine, people, ledger } = world
  const person = people.at(fault.who)
  const found = person.id === undefined ? undefined : await engine.find(person.id, fault.type)
  if (found) {
    ledger.unsure(idKey(person, fault.type))
    await engine.act(fault.kind.slice('container-'.length) as BehindBack, found)
  }
  await work()
  // A name that a foreign container has is a fault that lasts.
  await engine.removeStrangers()
}

async function stopMeanwhile(
  engine: Stoppable | undefined,
  { kind, time }: Extract<Fault, { kind: 'engine-stopped' | 'engine-restarted' | 'engine-killed' }>,
  work: () => Promise<void>,
): Promise<void> {
  if (!engine) return work()
  const working = work()
  if (kind === 'engine-killed') await engine.kill()
  else await engine.stop()
  if (kind !== 'engine-restarted') await sleep(time)
  await engine.start()
  await working
}
