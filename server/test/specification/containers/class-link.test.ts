// Part of npm run test:more: thirty containers; links with files, and what each answers, are in git-links.test.ts and open-links.test.ts
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertOk } from '#test/support/api-calls.ts'
import { startBerth, testTemplates, type Person } from '#test/support/berth.ts'
import { get } from '#test/support/gateway/raw-client.ts'
import { startGitServer } from '#test/support/git-server.ts'

const students = 30
/** In which all of them open the link, in ms. */
const span = 10_000

const repository = await startGitServer({ after })
writeFileSync(path.join(repository.folder, 'week 1.txt'), 'of the course\n')
repository.commit()
const { dev } = JSON.parse(await testTemplates()) as { dev: Record<string, unknown> }
const serving = { ...dev, command: ['/bin/sh', '-c', 'httpd -p 8080 -h /home/berth; exec tail -f /dev/null'] }
const berth = await startBerth(
  { after },
  { env: { CONTAINER_TEMPLATES: JSON.stringify({ dev: serving }), OPEN_GIT_HOSTS: repository.host } },
)
await berth.administrator()
const link = `/open/dev/lesson/week%201.txt?${new URLSearchParams({ git: repository.url, to: 'lesson' })}`

/** What a browser asks, and what the page does that it is led to once its user has confirmed. */
async function follow({ call, token }: Person): Promise<string> {
  const headers = { accept: 'text/html', 'sec-fetch-mode': 'navigate', authorization: `Bearer ${token}` }
  const { status, headers: answer } = await get(berth.app.port, link, { headers })
  assert.equal(status, 302)
  const page = new URL(String(answer.location), berth.url)
  const { type, next, git, to } = Object.fromEntries(page.searchParams)
  assert.equal(page.pathname, '/launch')
  assertOk(await call('POST', `/api/container/launch/${type}`))
  assertOk(await call('POST', `/api/container/files/${type}`, { body: { git, to } }))
  const opened = await get(berth.app.port, String(next), { headers })
  assert.equal(opened.status, 200, opened.body)
  return opened.body
}

test('thirty students without a container open one link within ten seconds; each finds the file in a container of their own', async (t) => {
  const people = await Promise.all(
    Array.from({ length: students }, (_, at) => berth.signUpWithoutContainer(`student${at}@x.org`)),
  )
  const begun = performance.now()
  const took = await Promise.all(
    people.map(async (person, at) => {
      await sleep((at * span) / students)
      const since = performance.now()
      assert.equal(await follow(person), 'of the course\n')
      return performance.now() - since
    }),
  )
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
  const [fastest = 0, slowest = 0] = [Math.min(...took), Math.max(...took)]
  t.diagnostic(
    `opened after ${seconds(fastest)} to ${seconds(slowest)}; all of them after ${seconds(performance.now() - begun)}`,
  )
  const names = people.map(({ slug }) => `${berth.installation}-${slug}-dev`)
  const states = await Promise.all(names.map(async (name) => (await berth.runtime.inspect(name))?.state))
  assert.deepEqual(
    states,
    names.map(() => 'running'),
  )
})
