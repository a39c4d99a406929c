import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusals, type Refusal } from '#/refusals/errors.ts'
import { AdmissionControl, Capacity, type AdmissionControlParts } from './admission-control.ts'
import type { HostShortage } from './host-resources.ts'

const ann = { owned: { userId: 1, type: 'dev' }, image: 'x', needsImage: true, isLowPriority: false }

/** A host whose shortage is seen when it is asked, and others' containers that were started ahead, thirty of which may be stopped. */
function arrange(shortage: HostShortage, enough: number) {
  const world = { stopped: 0, block: undefined as Refusal | undefined, onStop: () => {} }
  let known: HostShortage | undefined = shortage
  const parts: Partial<Record<keyof AdmissionControlParts, unknown>> = {
    capacity: { isUp: () => false, refusal: () => undefined, reserve: () => undefined, release: () => undefined },
    hostResources: {
      shortage: () => known,
      noteStart: () => undefined,
      askAnew: async () => void (known = world.stopped >= enough ? undefined : shortage),
    },
    launchProgress: { enter: () => undefined, pulling: () => undefined },
    limitsFor: () => undefined,
    flowsOf: () => undefined,
    checkBlock: async () => world.block,
    parallel: 2,
    ping: async () => undefined,
  }
  const admission = new AdmissionControl(parts as AdmissionControlParts)
  admission.onShortage(async function* () {
    while (world.stopped < 30) {
      world.stopped++
      world.onStop()
      yield undefined
    }
  })
  return { admission, world, launch: () => admission.run(ann, async () => 'started') }
}

// One launch at 1 % of free disk stopped the containers of a whole class that were started ahead, and was refused all the same.
for (const shortage of ['disk', 'addresses'] as const)
  test(`a launch without ${shortage} stops no container of others: a stop frees none`, async () => {
    const { world, launch } = arrange(shortage, 1)
    await assert.rejects(launch(), { code: 'serverFull' })
    assert.equal(world.stopped, 0)
  })

// The report is renewed once a second: all were stopped within the one in which the first would have been enough.
test('a launch without memory stops as few containers of others as make room', async () => {
  const { world, launch } = arrange('memory', 2)
  assert.equal(await launch(), 'started')
  assert.equal(world.stopped, 2)
})

test('a launch that its owner cancels, or that is blocked, while room is made for it stops no more', async () => {
  for (const end of ['cancel', 'block'] as const) {
    const { admission, world, launch } = arrange('memory', 20)
    world.onStop = () => {
      if (world.stopped < 3) return
      if (end === 'block') world.block = refusals.userBlocked()
      else admission.cancel(ann.owned, refusals.stopping())
    }
    await assert.rejects(launch(), { code: end === 'block' ? refusals.userBlocked().code : refusals.stopping().code })
    assert.equal(world.stopped, 3)
  }
})

const dev = (userId: number) => ({ userId, type: 'dev' })
const prod = (userId: number) => ({ userId, type: 'prod' })

test('what runs, and what is on its way, counts towards the cap; what is refused or has failed does not', () => {
  const occupancy = new Capacity({ maxRunning: 2, maxPerUser: null })
  occupancy.note(dev(1), true)
  assert.equal(occupancy.refusal(dev(2)), undefined)
  occupancy.reserve(dev(2))
  assert.equal(occupancy.refusal(dev(3))?.extra.reason, 'full')
  occupancy.release(dev(2))
  assert.equal(occupancy.refusal(dev(3)), undefined)
  assert.equal(occupancy.running, 1)
})

test('a launch that came to run is counted once, and not any more when it ends', () => {
  const occupancy = new Capacity({ maxRunning: 1, maxPerUser: null })
  occupancy.reserve(dev(1))
  occupancy.note(dev(1), true)
  occupancy.release(dev(1))
  occupancy.note(dev(1), true)
  assert.ok(occupancy.refusal(dev(2)))
  occupancy.note(dev(1), false)
  assert.deepEqual([occupancy.refusal(dev(2)), occupancy.running], [undefined, 0])
})

test('the room that a container has already is its own, also while it is replaced', () => {
  const occupancy = new Capacity({ maxRunning: 1, maxPerUser: 1 })
  occupancy.note(dev(1), true)
  assert.equal(occupancy.refusal(dev(1)), undefined)
  occupancy.reserve(dev(1))
  occupancy.note(dev(1), false)
  assert.equal(occupancy.refusal(dev(1)), undefined)
  assert.ok(occupancy.refusal(prod(1)))
})

test("one person's cap counts their own containers only, and says how many they may have", () => {
  const occupancy = new Capacity({ maxRunning: null, maxPerUser: 1 })
  occupancy.note(dev(1), true)
  assert.match(occupancy.refusal(prod(1))?.message ?? '', /^You have 1 /)
  assert.equal(occupancy.refusal(dev(2)), undefined)
  occupancy.note(dev(1), false)
  assert.equal(occupancy.refusal(prod(1)), undefined)
})
