import assert from 'node:assert/strict'
import { test } from 'node:test'
import { observationTime } from '#test/support/observation-time.ts'
import { arrange, newOwner, until, useDatabase } from '#test/support/route-sync-harness.ts'
import { timeLimit } from '#test/support/extent.ts'

useDatabase()

test('a container about which the engine never answers is unknown, and no other container is', async (t) => {
  const [vic, wes] = [await newOwner(), await newOwner()]
  const { runtime, gateway, routeSync } = await arrange(t, [vic, wes])
  runtime.hanging.add(vic.id)
  runtime.tell({ id: vic.id, action: 'other' })
  await until(() => gateway.routeStateOf(vic.prefix) === 'unknown')
  // The engine answers pings all the time. When the one inspect counted as well, every container was unknown.
  for (let each = 0; each < 20; each++) {
    assert.deepEqual([gateway.routeStateOf(wes.prefix), routeSync.isEngineAnswering], ['running', true])
    await observationTime(100)
  }
  const before = runtime.asked.inspects.filter((id) => id === vic.id).length
  assert.ok(before <= 4, `asked ${before} times`)
  runtime.hanging.delete(vic.id)
  await until(() => gateway.routeStateOf(vic.prefix) === 'running')
})

test('a container about which the engine answers with an error, after it did not answer, is asked about again', async (t) => {
  const zoe = await newOwner()
  const { runtime, gateway } = await arrange(t, [zoe])
  runtime.hanging.add(zoe.id)
  runtime.tell({ id: zoe.id, action: 'other' })
  await until(() => gateway.routeStateOf(zoe.prefix) === 'unknown')
  const before = runtime.asked.inspects.length
  runtime.refusing.add(zoe.id)
  runtime.hanging.delete(zoe.id)
  await until(() => runtime.asked.inspects.length > before)
  await observationTime(100)
  runtime.refusing.delete(zoe.id)
  await until(() => gateway.routeStateOf(zoe.prefix) === 'running')
})

test('containers that hang do not block inspects of the others', async (t) => {
  const owners = await Promise.all(Array.from({ length: 60 }, newOwner))
  const { runtime, gateway, routeSync } = await arrange(t, owners)
  const [stuck, well] = [owners.slice(0, 40), owners.slice(40)]
  for (const { id } of stuck) runtime.hanging.add(id)
  for (const { id } of owners) runtime.end(id, 3)
  await until(() => well.every(({ prefix }) => gateway.routeStateOf(prefix) === 'crashed'))
  await until(() => stuck.every(({ prefix }) => gateway.routeStateOf(prefix) === 'unknown'))
  for (const { id, userId } of well) runtime.run(id, userId, `172.19.0.${userId % 250}`)
  const began = performance.now()
  await routeSync.readAll()
  await routeSync.refresh({ containers: await runtime.list(), isFull: true })
  assert.ok(performance.now() - began < timeLimit(1_000), `${performance.now() - began} ms`)
  for (const { prefix } of well) assert.equal(gateway.routeStateOf(prefix), 'running')
})
