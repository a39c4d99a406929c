import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

const collector = path.join(import.meta.dirname, 'collect-garbage.ts')

/** A process with so many objects in use, of 48 bytes at least, and as many that its start has left behind. @returns MB of its heap at last */
async function heapAfterStart(objects: number): Promise<number> {
  const program = `
    import { collectGarbageOnce } from ${JSON.stringify(collector)}
    const fill = () => Array.from({ length: ${objects} }, (_, at) => ({ at, text: 'x' + at, more: [at] }))
    const used = fill()
    let left = fill()
    collectGarbageOnce()
    setTimeout(() => (left = undefined), 1_000)
    setTimeout(() => {
      console.log(process.memoryUsage().heapUsed / 1e6, used.length)
      process.exit()
    }, 6_000)`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  return Number.parseFloat(stdout)
}

// With 20,000 containers the gateway held 45 MB for minutes that only its start had needed: a large heap was not collected at all.
test('what the start of a process with a large heap leaves behind is given back', async () => {
  const megabytes = await heapAfterStart(250_000)
  assert.ok(megabytes > 20 && megabytes < 50, `${megabytes} MB`)
})

/** A process with 120 MB of objects, of which it then drops some between all others. @returns bytes of its old space by bytes of these in use */
async function spareAfterDropping(call: string): Promise<number> {
  const program = `
    import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
    import { runInNewContext } from 'node:vm'
    import { limitHeapGrowth } from ${JSON.stringify(collector)}
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc')
    let used = Array.from({ length: 900_000 }, (_, at) => ({ at, text: 'x' + at, more: [at] }))
    collect()
    ${call}
    used = used.filter((_, at) => at % 2 !== 0)
    for (let times = 0; times < 8; times++) collect({ type: 'major', execution: 'sync' })
    const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')
    console.log(space.space_size / space.space_used_size, used.length)`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  return Number.parseFloat(stdout)
}

// A morning of launches at 20,000 containers left 45 MB of free pieces between the objects.
test('a large heap is compacted by its collections once its growth is limited', async () => {
  const [usual, limited] = [await spareAfterDropping(''), await spareAfterDropping('limitHeapGrowth()')]
  assert.ok(limited < 1.15 && usual > limited + 0.3, `${limited} with the limit, ${usual} without`)
})
