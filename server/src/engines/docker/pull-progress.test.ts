import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PullMeter, type PullLine } from './pull-progress.ts'

/** Lines as Docker 20.10 sends them. */
const line = (status: string, id?: string, current?: number, total?: number): PullLine => ({
  status,
  ...(id === undefined ? {} : { id }),
  progressDetail: current === undefined ? {} : { current, total: total ?? -1 },
})

function progressAfter(...lines: PullLine[]): number[] {
  const meter = new PullMeter()
  for (const each of lines) meter.note(each)
  const { layersDone, layersTotal, bytesDone, bytesTotal } = meter.now()
  return [layersDone, layersTotal, bytesDone, bytesTotal]
}

test('layers and bytes are added up over all layers; what is no layer does not count', () => {
  const beginning = [
    line('Pulling from library/app', 'latest'),
    line('Pulling fs layer', 'a'),
    line('Pulling fs layer', 'b'),
    line('Already exists', 'c'),
    line('Downloading', 'a', 10, 100),
    line('Waiting', 'b'),
  ]
  assert.deepEqual(progressAfter(...beginning), [1, 3, 10, 100])
  const further = [...beginning, line('Downloading', 'b', 5, 50), line('Download complete', 'a')]
  assert.deepEqual(progressAfter(...further), [1, 3, 105, 150])
  const end = [
    ...further,
    line('Extracting', 'a', 3, 100),
    line('Pull complete', 'a'),
    line('Verifying Checksum', 'b'),
    line('Pull complete', 'b'),
    line('Digest: sha256:0123'),
    line('Status: Downloaded newer image for app:latest'),
  ]
  assert.deepEqual(progressAfter(...end), [3, 3, 150, 150])
})

test('a layer that is unpacked has come whole, also one so small that its download was not told', () => {
  assert.deepEqual(progressAfter(line('Extracting', 'a', 1, 300)), [0, 1, 300, 300])
  assert.deepEqual(progressAfter(line('Download complete', 'a')), [0, 1, 0, 0])
})

test('a layer that is tried again begins anew', () => {
  const lines = [line('Downloading', 'a', 80, 100), line('Retrying in 5 seconds', 'a')]
  assert.deepEqual(progressAfter(...lines), [0, 1, 0, 100])
})

test('where the registry does not tell the size, the received bytes are reported', () => {
  assert.deepEqual(progressAfter(line('Downloading', 'a', 80)), [0, 1, 80, 80])
})
