import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { openStream, type OpenStream } from '#test/support/event-stream.ts'
import {
  groupTemplates,
  signInAgain,
  startGroupBerth,
  tokenOf,
  takeOver,
  type Signed,
} from '#test/support/group-berth.ts'

/** "May I look?": a manager asks, a member agrees or declines, and what ends a look. */
const templates = {
  ...groupTemplates,
  full: { image: 'nowhere:latest', port: 8080, forward_token: 'full' },
}
const env = { SHARING: 'groups', CONTAINER_TEMPLATES: JSON.stringify(templates) }
const { berth, boss, signUp, group, launch } = await startGroupBerth({ after }, { env })
const [tom, ann, ben] = [await signUp('tom@x.org'), await signUp('ann@x.org'), await signUp('ben@x.org')]
for (const [owner, type] of [
  [ann, 'lab'],
  [ann, 'prod'],
  [ann, 'full'],
  [ben, 'lab'],
  [tom, 'lab'],
] as const) {
  assertOk(await launch(owner, type))
  // Visitors do not start it: whom the gateway lets through gets 503 at once.
  assertOk(await owner.call('POST', `/api/container/stop/${type}`))
}

interface Looks {
  requests: { id: number; by: string; group: string; type: string; expires_at: string }[]
  looks: { share_id: number; by: string; type: string; expires_at: string }[]
}
const ask = (by: Signed, groupId: number, member: Signed, type = 'lab') =>
  by.call('POST', `/api/groups/${groupId}/members/${member.id}/look/${type}`)
const answer = (by: Signed, id: number, what: 'agree' | 'decline') =>
  by.call('POST', `/api/user/look-requests/${id}/${what}`)
const looksOf = (page: OpenStream) => page.events.findLast(({ name }) => name === 'looks')?.data as Looks | undefined
const mayVisit = async ({ token }: Signed, prefix = 'ann-lab') =>
  (await berth.call('GET', `/${prefix}/`, { token })).status !== 403
const untilVisit = async (visitor: Signed, wanted: boolean) => {
  for (let left = 100; left > 0 && (await mayVisit(visitor)) !== wanted; left--)
    await new Promise((done) => setTimeout(done, 20))
  assert.equal(await mayVisit(visitor), wanted)
}
const until = (page: OpenStream, isMeant: (looks: Looks) => boolean) =>
  pollUntil(
    () => isMeant(looksOf(page) ?? { requests: [], looks: [] }),
    () => page.text(),
  )
let count = 0
/** A class of its own, so that what one test has asked limits no other one. */
async function newClass(members: readonly Signed[] = [ann, ben], more: object = {}) {
  const teacher = await signUp(`teacher${++count}@x.org`)
  const { id } = await group({ name: `Class ${count}`, types: ['lab', 'full'], ...more }, members, [teacher])
  return { teacher, id, name: `Class ${count}` }
}
/** A look that Ann has agreed to. */
async function openLook(more?: object) {
  const made = await newClass([ann, ben], more)
  const page = await openStream(berth, ann.token)
  assertOk(await ask(made.teacher, made.id, ann))
  await until(page, ({ requests }) => requests.some(({ by }) => by === made.teacher.email))
  const request = looksOf(page)?.requests.find(({ by }) => by === made.teacher.email)
  assertOk(await answer(ann, request?.id ?? 0, 'agree'))
  await until(page, ({ looks }) => looks.some(({ by }) => by === made.teacher.email))
  const end = async () => {
    const look = looksOf(page)?.looks.find(({ by }) => by === made.teacher.email)
    if (look) await ann.call('DELETE', `/api/container/shares/lab/${look.share_id}`)
    page.close()
  }
  return { ...made, page, end }
}

test('a request is on the open page of the member at once, and opens nothing before the member agrees', async (t) => {
  const { teacher, id, name } = await newClass()
  const page = await openStream(berth, ann.token)
  t.after(() => page.close())
  const asked = await ask(teacher, id, ann)
  assertOk(asked)
  assert.equal(asked.body.message, 'ann@x.org was asked. It opens when they agree.')
  await until(page, ({ requests }) => requests.length === 1)
  const [request] = looksOf(page)?.requests ?? []
  assert.ok(request)
  assert.deepEqual([request.by, request.group, request.type], [teacher.email, name, 'lab'])
  const seconds = (Date.parse(request.expires_at) - Date.now()) / 1_000
  assert.ok(seconds > 240 && seconds <= 300, `${seconds} s`)
  assert.equal(await mayVisit(teacher), false)
  assertOk(await answer(ann, request.id, 'agree'))
  assert.equal(await mayVisit(teacher), true)
  assert.equal(await mayVisit(tom), false)
  await until(page, ({ requests, looks }) => requests.length === 0 && looks.length === 1)
  const [look] = looksOf(page)?.looks ?? []
  const minutes = (Date.parse(look?.expires_at ?? '') - Date.now()) / 60_000
  assert.ok(minutes > 58 && minutes <= 60, `${minutes} min`)
  const [shared] = (await teacher.call('GET', '/api/user/shared')).body.containers
  assert.deepEqual([shared.owner, shared.container_type, shared.may], ['ann@x.org', 'lab', 'look'])
  const { shares } = (await ann.call('GET', '/api/container/shares/lab')).body
  assert.deepEqual([shares[0].email, shares[0].asked_in], [teacher.email, { id, name }])
  assertOk(await ann.call('DELETE', `/api/container/shares/lab/${look?.share_id}`))
  assert.equal(await mayVisit(teacher), false)
  await until(page, ({ looks }) => looks.length === 0)
})

test('only read requests are let through, and nothing that changes', async (t) => {
  const { teacher, end } = await openLook()
  t.after(end)
  const reply = await berth.call('POST', '/ann-lab/', { token: teacher.token, body: {} })
  assert.equal(reply.status, 403)
})

test('a page that is opened later has the request, too, and asking twice is one request', async (t) => {
  const { teacher, id } = await newClass()
  assertOk(await ask(teacher, id, ann))
  const page = await openStream(berth, ann.token)
  t.after(() => page.close())
  await until(page, ({ requests }) => requests.length === 1)
  // Each press of the button was another entry in the audit log, and another event on the member's pages.
  assertOk(await ask(teacher, id, ann))
  const { entries } = (await boss.call('GET', `/api/admin/audit?target=group:${id}&action=group.ask-to-look`)).body
  assert.deepEqual([entries.length, page.events.filter(({ name }) => name === 'looks').length], [1, 1])
  assertOk(await answer(ann, looksOf(page)?.requests[0]?.id ?? 0, 'decline'))
})

test('who was declined cannot ask this member again for a while, for no container, and the others are as before', async (t) => {
  const { teacher, id } = await newClass([ann, ben], { types: ['lab', 'prod'] })
  const page = await openStream(berth, ann.token)
  t.after(() => page.close())
  assertOk(await ask(teacher, id, ann))
  await until(page, ({ requests }) => requests.length === 1)
  const request = looksOf(page)?.requests[0]?.id ?? 0
  assertRefused(await answer(ben, request, 'agree'), 404)
  assertOk(await answer(ann, request, 'decline'))
  await until(page, ({ requests }) => requests.length === 0)
  assertRefused(await answer(ann, request, 'agree'), 404)
  for (const type of ['lab', 'prod']) {
    const again = await ask(teacher, id, ann, type)
    assertRefused(again, 429)
    const wait = Number(again.headers.get('retry-after'))
    assert.ok(wait > 1_700 && wait <= 1_800, `${wait} s`)
  }
  assertOk(await ask(teacher, id, ben))
  const { entries } = (await boss.call('GET', `/api/admin/audit?target=group:${id}`)).body
  const actions = entries.map(({ action, actor, detail }: never) => [
    action,
    (actor as { email: string }).email,
    (detail as { user: number }).user,
  ])
  assert.deepEqual(actions.slice(0, 3), [
    ['group.ask-to-look', teacher.email, ben.id],
    ['group.decline-look', 'ann@x.org', teacher.id],
    ['group.ask-to-look', teacher.email, ann.id],
  ])
})

test('a manager asks one member at most three times an hour, whatever the answers', async () => {
  const { teacher, id, page, end } = await openLook()
  await end()
  const another = await openStream(berth, ann.token)
  for (let time = 2; time <= 3; time++) {
    assertOk(await ask(teacher, id, ann))
    await until(another, ({ requests }) => requests.some(({ by }) => by === teacher.email))
    const request = looksOf(another)?.requests.find(({ by }) => by === teacher.email)
    assertOk(await answer(ann, request?.id ?? 0, 'agree'))
  }
  const { shares } = (await ann.call('GET', '/api/container/shares/lab')).body
  assert.equal(shares.length, 1)
  assertOk(await ann.call('DELETE', `/api/container/shares/lab/${shares[0].id}`))
  assertRefused(await ask(teacher, id, ann), 429)
  for (const each of [page, another]) each.close()
})

for (const [words, end] of [
  ['a demotion of the manager', (id: number, teacher: Signed) => setRole(id, teacher, 'member')],
  ['the removal of the manager', (id: number, teacher: Signed) => remove(id, teacher)],
  ['the removal of the member', (id: number) => remove(id, ann)],
  ['the end of the group', (id: number) => boss.call('POST', `/api/groups/${id}/end`)],
  ['the deletion of the group', (id: number) => boss.call('DELETE', `/api/admin/groups/${id}`)],
] as const)
  test(`${words} ends a look for good`, async (t) => {
    const { teacher, id, page, end: close } = await openLook()
    t.after(close)
    assert.equal(await mayVisit(teacher), true)
    assertOk(await end(id, teacher))
    await untilVisit(teacher, false)
    await until(page, ({ looks }) => looks.length === 0)
    if (words.startsWith('the deletion')) return
    await boss.call('PATCH', `/api/admin/groups/${id}`, { expires_at: null })
    assertOk(await setRole(id, teacher, 'manager'))
    assertOk(await setRole(id, ann, 'member'))
    assert.deepEqual((await ann.call('GET', '/api/container/shares/lab')).body.shares, [])
    assert.equal(await mayVisit(teacher), false)
  })

test('a demotion and a removal end a request that waits, too', async (t) => {
  const page = await openStream(berth, ann.token)
  t.after(() => page.close())
  for (const end of [
    (id: number, teacher: Signed) => setRole(id, teacher, 'member'),
    (id: number) => remove(id, ann),
  ]) {
    const { teacher, id } = await newClass()
    assertOk(await ask(teacher, id, ann))
    await until(page, ({ requests }) => requests.length === 1)
    const request = looksOf(page)?.requests[0]?.id ?? 0
    assertOk(await end(id, teacher))
    await until(page, ({ requests }) => requests.length === 0)
    assertRefused(await answer(ann, request, 'agree'), 404)
  }
})

test('a look leaves a share alone that the owner made with the same manager', async (t) => {
  const both = await startGroupBerth({ after: (work) => t.after(work) }, { env: { ...env, SHARING: 'people' } })
  const [teacher, owner] = [await both.signUp('teacher@x.org'), await both.signUp('owner@x.org')]
  const { id } = await both.group({ name: 'Physics' }, [owner], [teacher])
  assertOk(await both.launch(owner, 'lab'))
  const expires_at = new Date(Date.now() + 7_200_000).toISOString()
  const terms = { emails: ['teacher@x.org'], may: 'use', expires_at }
  assertOk(await owner.call('POST', '/api/container/shares/lab', terms))
  assertOk(await ask(teacher, id, owner))
  assertOk(await answer(owner, 1, 'agree'))
  const { shares } = (await owner.call('GET', '/api/container/shares/lab')).body
  assert.deepEqual(
    shares.map((each: { may: string; expires_at: string }) => [each.may, each.expires_at === expires_at]),
    [
      ['use', true],
      ['look', false],
    ],
  )
})

test('types beside the group, own containers, containers that are not there, and tokens of owners are refused', async () => {
  const { teacher, id } = await newClass([ann])
  assertRefused(await ask(teacher, id, ann, 'prod'), 400)
  assertRefused(await ask(teacher, id, ann, 'nonsense'), 400)
  assertRefused(await ask(teacher, id, ann, 'full'), 409)
  assertRefused(await ask(teacher, id, ben), 404)
  assertRefused(await ask(teacher, id, teacher), 409)
  assertRefused(await ask(teacher, 999_999, ann), 404)
  const late = await signUp(`late${++count}@x.org`)
  assertOk(await teacher.call('POST', `/api/groups/${id}/members`, { emails: [late.email] }))
  assertRefused(await ask(teacher, id, late), 404)
})

test('members, other managers and administrators do not ask, nor do takeovers and API tokens', async () => {
  const { teacher, id } = await newClass()
  const other = await newClass()
  const acting = await takeOver(berth, boss, teacher)
  for (const caller of [ann, other.teacher, boss, acting, await tokenOf(berth, teacher)])
    assertRefused(await ask(caller, id, ann), 403)
  assertOk(await teacher.call('POST', `/api/groups/${id}/members`, { emails: [boss.email], role: 'manager' }))
  assertOk(await ask(boss, id, ann))
})

test('who acts for a member cannot agree or decline, nor can an API token of theirs', async (t) => {
  const { teacher, id } = await newClass()
  const page = await openStream(berth, ann.token)
  t.after(() => page.close())
  assertOk(await ask(teacher, id, ann))
  await until(page, ({ requests }) => requests.some(({ by }) => by === teacher.email))
  const request = looksOf(page)?.requests.find(({ by }) => by === teacher.email)?.id ?? 0
  for (const caller of [await takeOver(berth, boss, ann), await tokenOf(berth, ann)])
    for (const what of ['agree', 'decline'] as const) assertRefused(await answer(caller, request, what), 403)
  assert.equal(await mayVisit(teacher), false)
  assertOk(await answer(ann, request, 'decline'))
})

test('blocked people neither ask nor agree, and what is theirs opens to no one', async () => {
  const { teacher, id, page, end } = await openLook()
  assertOk(await boss.call('POST', `/api/admin/users/${teacher.id}/block`))
  assert.equal(await mayVisit(teacher), false)
  assertRefused(await ask(teacher, id, ben), 403)
  assertOk(await boss.call('POST', `/api/admin/users/${teacher.id}/unblock`))
  const again = await signInAgain(berth, teacher)
  assertOk(await boss.call('POST', `/api/admin/users/${ben.id}/block`))
  assertRefused(await ask(again, id, ben), 409)
  assertOk(await boss.call('POST', `/api/admin/users/${ben.id}/unblock`))
  assertOk(await ask(again, id, ben))
  assertOk(await boss.call('POST', `/api/admin/users/${teacher.id}/block`))
  const member = await signInAgain(berth, ben)
  const own = await openStream(berth, member.token)
  await until(own, ({ requests }) => requests.length > 0)
  const request = looksOf(own)?.requests.find(({ by }) => by === teacher.email)
  assertRefused(await answer(member, request?.id ?? 0, 'agree'), 404)
  own.close()
  await end()
  page.close()
})

test('the page of the group shows to the manager who asked, and to no other one, what became of it', async (t) => {
  const { teacher, id } = await newClass()
  const second = await signUp(`second${++count}@x.org`)
  assertOk(await teacher.call('POST', `/api/groups/${id}/members`, { emails: [second.email], role: 'manager' }))
  const watch = (by: Signed) => openStream(berth, by.token, { path: `/api/groups/${id}/events` })
  const [page, others, own] = [await watch(teacher), await watch(second), await openStream(berth, ann.token)]
  t.after(() => [page, others, own].forEach((each) => each.close()))
  const lookIn = (stream: OpenStream) =>
    stream.events
      .flatMap(({ name, data }) => (name === 'members' ? (data.members as never[]) : []))
      .findLast(({ user_id }: { user_id: number }) => user_id === ann.id) as
      { containers: { type: string; look: { state: string } | null }[] } | undefined
  const stateIn = (stream: OpenStream) => lookIn(stream)?.containers.find(({ type }) => type === 'lab')?.look?.state
  const untilState = (state: string | undefined) =>
    pollUntil(
      () => lookIn(page) !== undefined && stateIn(page) === state,
      () => page.text(),
    )
  await untilState(undefined)
  assertOk(await ask(teacher, id, ann))
  await untilState('asked')
  await until(own, ({ requests }) => requests.some(({ by }) => by === teacher.email))
  const request = looksOf(own)?.requests.find(({ by }) => by === teacher.email)
  assertOk(await answer(ann, request?.id ?? 0, 'agree'))
  await untilState('open')
  const look = looksOf(own)?.looks.find(({ by }) => by === teacher.email)
  assertOk(await ann.call('DELETE', `/api/container/shares/lab/${look?.share_id}`))
  await untilState(undefined)
  assert.equal(stateIn(others), undefined)
  const managed = (await teacher.call('GET', `/api/groups/${id}`)).body
  assert.deepEqual(
    managed.types.map((each: { type: string; may_ask_to_look: boolean }) => [each.type, each.may_ask_to_look]),
    [
      ['lab', true],
      ['full', false],
    ],
  )
  const { types } = (await boss.call('GET', `/api/groups/${id}`)).body
  assert.ok(types.length > 0 && types.every((each: { may_ask_to_look: boolean }) => !each.may_ask_to_look))
})

test('where sharing is off a request is refused, and no page offers it', async (t) => {
  const off = await startGroupBerth({ after: (work) => t.after(work) }, { env: { ...env, SHARING: 'off' } })
  const [teacher, member] = [await off.signUp('teacher@x.org'), await off.signUp('member@x.org')]
  const { id } = await off.group({ name: 'Physics' }, [member], [teacher])
  assertOk(await off.launch(member, 'lab'))
  assertRefused(await ask(teacher, id, member), 403)
  assertRefused(await answer(member, 1, 'agree'), 403)
  const { types } = (await teacher.call('GET', `/api/groups/${id}`)).body
  assert.ok(types.length > 0 && types.every((each: { may_ask_to_look: boolean }) => !each.may_ask_to_look))
})

const setRole = (id: number, { email }: Signed, role: string) =>
  boss.call('POST', `/api/groups/${id}/members`, { emails: [email], role })
const remove = (id: number, { id: userId }: Signed) => boss.call('DELETE', `/api/groups/${id}/members/${userId}`)
