import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clusterFields as kind } from './field-values.ts'

const clusterFields = kind.read

const none = { nodeSelector: {}, tolerations: [], storageClass: null, pullSecrets: [], gpuResource: 'nvidia.com/gpu' }

test('a part that is not given is as the cluster decides it', () => {
  assert.deepEqual(clusterFields({}), { value: none })
})

test('nodes, tolerations, storage class, pull secrets and the resource of GPUs are read', () => {
  const given = {
    node_selector: { 'node.kubernetes.io/instance-type': 'large', disk: '' },
    tolerations: [{ key: 'gpu', value: 'yes', effect: 'NoExecute', seconds: 60 }, { operator: 'Exists' }],
    storage_class: 'fast.ssd',
    pull_secrets: ['registry-1', 'registry-2'],
    gpu_resource: 'amd.com/gpu',
  }
  assert.deepEqual(clusterFields(given), {
    value: {
      nodeSelector: given.node_selector,
      tolerations: [
        { key: 'gpu', operator: 'Equal', value: 'yes', effect: 'NoExecute', seconds: 60 },
        { key: '', operator: 'Exists', value: '', effect: '', seconds: null },
      ],
      storageClass: 'fast.ssd',
      pullSecrets: ['registry-1', 'registry-2'],
      gpuResource: 'amd.com/gpu',
    },
  })
})

test('what the API of a cluster would refuse is refused at the start, and named', () => {
  const wrong: [unknown, RegExp][] = [
    [[], /must be a map/],
    [{ node_selectors: {} }, /unknown key "node_selectors"/],
    [{ node_selector: { disk: 1 } }, /node_selector .* in quotes/],
    [{ node_selector: { '-disk': 'ssd' } }, /node_selector/],
    [{ node_selector: { disk: 'a b' } }, /node_selector/],
    [{ storage_class: 'Fast' }, /storage_class/],
    [{ pull_secrets: 'registry' }, /pull_secrets/],
    [{ pull_secrets: ['a/b'] }, /pull_secrets/],
    [{ gpu_resource: 'gpu' }, /gpu_resource/],
    [{ tolerations: {} }, /tolerations that are a list/],
    [{ tolerations: [{ key: 'a', tolerationSeconds: 1 }] }, /tolerations that are a list/],
    [{ tolerations: [{ key: 'a', operator: 'In' }] }, /operator is none of Equal, Exists/],
    [{ tolerations: [{ key: 'a', effect: 'Never' }] }, /effect is none of/],
    [{ tolerations: [{}] }, /without key, which needs the operator Exists/],
    [{ tolerations: [{ key: 'a', operator: 'Exists', value: 'b' }] }, /Exists does not compare/],
    [{ tolerations: [{ key: 'a', effect: 'NoSchedule', seconds: 5 }] }, /need the effect NoExecute/],
    [{ tolerations: [{ key: 'a b' }] }, /key is no name of a taint/],
  ]
  for (const [value, problem] of wrong) {
    const read = clusterFields(value)
    assert.match('problem' in read ? read.problem : 'accepted', problem, JSON.stringify(value))
  }
})
