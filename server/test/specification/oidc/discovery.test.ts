import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProviderDiscovery } from '#/accounts/oidc/provider-discovery.ts'
import { SignInProblem } from '#/accounts/oidc/sign-in-problem.ts'
import { readProviders } from '#/accounts/oidc/provider-settings.ts'
import type { Lifetime } from '../../support/berth.ts'
import { HostileProvider } from '../../support/oidc/hostile-provider.ts'

const minute = 60_000

/** A provider that counts how often its discovery document is asked for, and a clock that the test moves. */
async function discoveryOf(lifetime: Lifetime) {
  const hostile = await HostileProvider.start(lifetime)
  const { providers } = readProviders(JSON.stringify({ main: hostile.fields }), 'FILE')
  const [provider] = providers
  assert.ok(provider)
  const state = { asked: 0, isDown: false, now: 1_000 }
  const document = hostile.document()
  hostile.hostility = {
    answers: {
      '/.well-known/openid-configuration': (response) => {
        state.asked += 1
        if (state.isDown) response.writeHead(503).end()
        else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
      },
    },
  }
  return { state, discovery: new ProviderDiscovery(provider, () => state.now) }
}

const isUnavailable = (error: unknown) => error instanceof SignInProblem && error.code === 'provider-unavailable'

test('a crowd that signs in at once asks for one discovery document, which is kept for an hour', async (t) => {
  const { state, discovery } = await discoveryOf(t)
  assert.equal(state.asked, 0)
  await Promise.all(Array.from({ length: 50 }, () => discovery.configuration()))
  state.now += 59 * minute
  await discovery.configuration()
  assert.equal(state.asked, 1)
})

test('a provider that fails is asked again after a pause that doubles, and fails at once until then', async (t) => {
  const { state, discovery } = await discoveryOf(t)
  state.isDown = true
  for (const pause of [1_000, 2_000, 4_000]) {
    const before = state.asked
    await assert.rejects(discovery.configuration(), isUnavailable)
    state.now += pause - 1
    await assert.rejects(discovery.configuration(), isUnavailable)
    assert.equal(state.asked, before + 1)
    state.now += 1
  }
  state.isDown = false
  await discovery.configuration()
})

test('an old document is refreshed behind the sign-ins that use it, and serves for a day while the provider is down', async (t) => {
  const { state, discovery } = await discoveryOf(t)
  const first = await discovery.configuration()
  state.isDown = true
  for (const hours of [2, 12, 23]) {
    state.now = 1_000 + hours * 60 * minute
    assert.equal(await discovery.configuration(), first)
    // Its refresh has failed by the time that the next answer comes.
    while (state.asked < 2) await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await new Promise((resolve) => setTimeout(resolve, 100))
  state.now = 1_000 + 25 * 60 * minute
  await assert.rejects(discovery.configuration(), isUnavailable)
  state.isDown = false
  state.now += minute
  assert.notEqual(await discovery.configuration(), first)
})
