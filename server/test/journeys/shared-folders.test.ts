// Part of npm run test:more: `specification/containers/shared-homes` and `specification/groups/group-folders` have the rules; this is a class of thirty.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import pLimit from 'p-limit'
import { assertOk } from '#test/support/api-calls.ts'
import { startBerth, type Person } from '#test/support/berth.ts'
import { arrival, openTab } from '#test/support/browser.ts'
import { testImage } from '#test/support/engine/engine.ts'
import { execInContainer } from '#test/support/engine/exec-in-container.ts'
import { waitLimit } from '#test/support/extent.ts'

/** A person saves in one application and goes on in another; a teacher publishes in the folder of a class. Real engine, real browser. */
const webDir = path.resolve(import.meta.dirname, '../../../web/dist')
const ends: (() => Promise<void>)[] = []
const lifetime = { after: (end: () => Promise<void>) => void ends.push(end) }
after(async () => {
  for (const end of ends.toReversed()) await end()
})

/** Shows a file, and a form that saves words (without blanks) into it; says why when it cannot. */
const page = (title: string, file: string) => `
cat > /tmp/serve <<'END'
read -r _ target _
while IFS= read -r line; do case "\${line%$(printf '\\r')}" in '') break ;; esac; done
case "$target" in *words=*) said=$({ echo "\${target##*words=}" > ${file}; } 2>&1 || true); chmod a+r ${file} 2>/dev/null ;; esac
body="<!doctype html><title>${title}</title><h1>${title}</h1><pre>$(cat ${file} 2>/dev/null)</pre><p role=alert>$said</p><form><label>Words <input name=words></label><button>Save</button></form>"
printf 'HTTP/1.1 200 OK\\r\\nContent-Type: text/html\\r\\nContent-Length: %s\\r\\nConnection: close\\r\\n\\r\\n%s' "\${#body}" "$body"
END
exec nc -ll -p 8080 -e /bin/sh /tmp/serve`

const base = { image: await testImage(), port: 8080, memory: '32m', group_folders: '/groups' }
const app = (title: string, file: string) => ({ display_name: title, command: ['/bin/sh', '-c', page(title, file)] })
const templates = {
  notebook: { ...base, ...app('Notebook', '/home/berth/lesson.txt'), home: '/home/berth', home_of: 'user' },
  editor: { ...base, ...app('Editor', '/workspace/lesson.txt'), home: '/workspace', home_of: 'user' },
  class: { ...base, ...app('Class', '/groups/physics-7b/task.txt') },
}
const berth = await startBerth(lifetime, {
  webDir,
  env: { CONTAINER_TEMPLATES: JSON.stringify(templates) },
})
const boss = await berth.administrator()

/** A browser in which the person is signed in. */
async function browserOf({ token }: Person) {
  const tab = await openTab(lifetime)
  tab.page.setDefaultTimeout(waitLimit(60_000))
  const cookie = { name: 'spawner_token', value: token, url: berth.app.frontendUrl, httpOnly: true }
  await tab.page.context().addCookies([cookie])
  const card = (name: string) => tab.page.getByRole('article', { name })
  return {
    ...tab,
    card,
    /** From the dashboard into the application. */
    enter: async (name: string, prefix: string) => {
      await tab.page.goto(berth.app.frontendUrl)
      await card(name).getByRole('button', { name: 'Launch' }).click()
      await arrival(tab.page, `/${prefix}/`)
      await tab.page.getByRole('heading', { name }).waitFor()
    },
    save: async (words: string) => {
      await tab.page.getByLabel('Words').fill(words)
      await tab.page.getByRole('button', { name: 'Save' }).click()
      await tab.page.waitForURL((url) => url.search.includes('words='))
    },
    shown: () => tab.page.locator('pre').innerText(),
  }
}

const launch = async (person: Person) => {
  const launched = await person.call('POST', '/api/container/launch/class')
  assertOk(launched)
  return launched.body.container_id as string
}
const stop = async (person: Person) => assertOk(await person.call('POST', '/api/container/stop/class'))

test('what a person saves in the notebook is there when they open the editor, and the other way round', async () => {
  const ann = await berth.signUpWithoutContainer('ann@x.org')
  const browser = await browserOf(ann)
  await browser.enter('Notebook', 'ann-notebook')
  await browser.save('from-the-notebook')
  assert.equal((await browser.shown()).trim(), 'from-the-notebook')
  await browser.enter('Editor', 'ann-editor')
  assert.equal((await browser.shown()).trim(), 'from-the-notebook')
  await browser.save('from-the-editor')
  await browser.page.goto(`${berth.app.spawnerUrl}/ann-notebook/`)
  assert.equal((await browser.shown()).trim(), 'from-the-editor', 'while both run')
})

test('a teacher publishes, thirty students read and cannot write, and one who has left sees nothing after a start', async () => {
  const teacher = await berth.signUpWithoutContainer('teacher@x.org')
  const students: Person[] = []
  for (let number = 1; number <= 30; number++)
    students.push(await berth.signUpWithoutContainer(`student${number}@x.org`))
  const [first, second] = students as [Person, Person]
  const made = await boss.call('POST', '/api/admin/groups', { body: { name: 'Physics 7b' } })
  assertOk(made)
  const members = `/api/groups/${made.body.group.id}/members`
  assertOk(await boss.call('POST', members, { body: { emails: ['teacher@x.org'], role: 'manager' } }))
  assertOk(await boss.call('POST', members, { body: { emails: students.map(({ auth }) => auth.user.email) } }))

  const desk = await browserOf(teacher)
  await desk.page.goto(`${berth.app.frontendUrl}/groups/members?group=${made.body.group.id}`)
  await desk.page.getByRole('button', { name: 'Folder', exact: true }).click()
  const dialog = desk.page.getByRole('dialog', { name: 'Folder' })
  await dialog.getByLabel('Name').fill('physics-7b')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  await desk.enter('Class', 'teacher-class')
  await desk.save('read-chapter-7')
  assert.equal((await desk.shown()).trim(), 'read-chapter-7')

  const some = pLimit(4)
  const found = await Promise.all(
    students.map((student) =>
      some(async () => {
        const id = await launch(student)
        const script =
          'cat /groups/physics-7b/task.txt; for at in task.txt own; do echo no > /groups/physics-7b/$at; done 2>&1; ls /groups/physics-7b'
        return (await execInContainer(id, script)).split('\n').filter(Boolean)
      }),
    ),
  )
  for (const [task, ...rest] of found) {
    assert.equal(task, 'read-chapter-7')
    assert.equal(rest.filter((line) => line.includes('Read-only file system')).length, 2)
    assert.deepEqual(rest.slice(2), ['task.txt'])
  }

  const place = await browserOf(first)
  await place.page.goto(`${berth.app.spawnerUrl}/${first.slug}-class/`)
  assert.equal((await place.shown()).trim(), 'read-chapter-7')
  await place.save('by-a-student')
  await place.page.getByRole('alert').filter({ hasText: 'Read-only file system' }).waitFor()
  await desk.save('read-chapter-8')
  await place.page.goto(`${berth.app.spawnerUrl}/${first.slug}-class/`)
  assert.equal((await place.shown()).trim(), 'read-chapter-8', 'without a restart')

  assertOk(await teacher.call('DELETE', `/api/groups/${made.body.group.id}/members/${first.id}`))
  await place.page.goto(berth.app.frontendUrl)
  await place.card('Class').getByText('The folders of your groups have changed.').waitFor()
  await stop(first)
  assert.equal(await execInContainer(await launch(first), 'ls /groups 2>/dev/null || true'), '')
  assert.match(await execInContainer(await launch(second), 'cat /groups/physics-7b/task.txt'), /read-chapter-8/)
  assert.deepEqual([...desk.problems, ...place.problems], [])
})
