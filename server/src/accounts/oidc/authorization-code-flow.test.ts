import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signInGroups } from './authorization-code-flow.ts'
import type { Provider } from './provider-settings.ts'

const groupsBy = (groupsAbsent: 'keep' | 'none', documents: readonly object[], isComplete = true) =>
  signInGroups(documents as never, { groupsClaim: 'groups', groupsAbsent } as Provider, isComplete)

test('a claim that is absent means that nothing is known, or that there is no group, as the settings say', () => {
  assert.equal(groupsBy('keep', [{}, {}]), undefined)
  assert.deepEqual(groupsBy('none', [{}, {}]), [])
  assert.deepEqual(groupsBy('none', [{ groups: null }]), [])
  assert.deepEqual(groupsBy('none', [{}, { groups: ['staff'] }]), ['staff'])
})

test('what failed, is kept elsewhere or is not understood is not absent', () => {
  assert.equal(groupsBy('none', [{}], false), undefined, 'userinfo, which may have the claim, failed')
  assert.equal(groupsBy('none', [{ _claim_names: { groups: 'src1' } }, {}]), undefined)
  assert.equal(groupsBy('none', [{ groups: 7 }]), undefined)
})
