import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusals } from '#/refusals/errors.ts'
import { DownloadTickets, fileSafe, parallelDownloads, type DownloadTicketRules } from './download-tickets.ts'

const now = new Date('2026-12-01T10:00:00Z')
const later = (ms: number) => new Date(now.getTime() + ms)
const rules: DownloadTicketRules = {
  lifetime: 1_000,
  max: {},
  isSingleUse: false,
  notFound: () => refusals.notFound('snapshot'),
  tooMany: (ofOwner) => (ofOwner === undefined ? refusals.tooManyTransfers() : refusals.tooManyAtOnce(ofOwner)),
}
const opened = async (subject: string) => subject
const codeIs = (code: string) => (error: unknown) => (error as { code?: string }).code === code

test('a ticket opens its subject, for its owner alone, until it expires', async () => {
  const tickets = new DownloadTickets<string>(rules)
  const ticket = tickets.issue(1, 'a', now)
  assert.equal(await tickets.begin(ticket, { ownerId: 1, now }, opened), 'a')
  await assert.rejects(tickets.begin(ticket, { ownerId: 2, now }, opened), codeIs('notFound'))
  await assert.rejects(tickets.begin(ticket, { ownerId: 1, now: later(1_000) }, opened), codeIs('notFound'))
})

test('a ticket for one use is used up by a begin, and not while too many are under way', async () => {
  const tickets = new DownloadTickets<string>({ ...rules, isSingleUse: true })
  const leaves: (() => void)[] = []
  const holding = async (_: string, leave: () => void) => void leaves.push(leave)
  for (let at = 0; at < parallelDownloads.ofKey; at++) await tickets.begin(tickets.issue(1, 'a', now), { now }, holding)
  const ticket = tickets.issue(1, 'b', now)
  await assert.rejects(tickets.begin(ticket, { now }, opened), codeIs('tooManyAtOnce'))
  leaves[0]?.()
  assert.equal(await tickets.begin(ticket, { now }, opened), 'b')
  await assert.rejects(tickets.begin(ticket, { now }, opened), codeIs('notFound'))
})

test('a file that is gone is a ticket that is none, and leaves its place', async () => {
  const tickets = new DownloadTickets<string>(rules)
  const gone = async () => Promise.reject(Object.assign(new Error('gone'), { code: 'ENOENT' }))
  const ticket = tickets.issue(1, 'a', now)
  for (let at = 0; at <= parallelDownloads.ofKey; at++)
    await assert.rejects(tickets.begin(ticket, { now }, gone), codeIs('notFound'))
})

test('the oldest ticket of a person goes, and none is issued beyond the number of all', async () => {
  const tickets = new DownloadTickets<string>({ ...rules, max: { ofOwner: 2, ofAll: 3 } })
  const other = tickets.issue(2, 'of another', now)
  const [first, second, third] = ['a', 'b', 'c'].map((each) => tickets.issue(1, each, now))
  await assert.rejects(tickets.begin(first ?? '', { now }, opened), codeIs('notFound'))
  for (const ticket of [second, third, other]) await tickets.begin(ticket ?? '', { now }, opened)
  assert.equal(tickets.isFull(now), true)
  assert.equal(tickets.isFull(later(1_000)), false)
})

test('names of files have nothing that headers cannot have', () => {
  assert.equal(fileSafe('Übung "7"\r\n/x'), 'U_bung_7_x')
})
