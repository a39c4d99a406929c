import { refusalHeader } from '@berth/api/schemas/error.ts'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { ada, ann, containerEntry, developmentEntry as dev, minutesAgo } from '../user-fixtures.ts'
import { never, Refused, unreachable, type Story, type StoryEvent } from '../story.ts'

const fresh = { status: 'not_created', container_id: null, created_at: null, last_used: null } as const
const prod = (more?: Partial<ContainerEntry>) =>
  containerEntry('prod', 'Production', 'Where finished work is shown', { icon: 'globe', ...more })
const lab = (more?: Partial<ContainerEntry>) =>
  containerEntry('lab', 'Laboratory', 'Python, notebooks and the data of the course', { icon: 'notebook', ...more })

const gib = 2 ** 30
/** Memory and home of a container, as they were measured last. */
const measured = (memory: number, disk: number, limit: number | null = 10 * gib) =>
  ({ memory: { used: memory * gib, limit: 2 * gib }, disk: { used: disk * gib, limit } }) as const
const more = 'More actions for Development'

const lines = [
  'Reading /etc/app.conf',
  'Listening on port 99999',
  'Error: no such port: 99999',
  '    at listen (/app/server.js:12:5)',
]
const stands = (
  type: string,
  status: 'running' | 'asleep' | 'crashed' | 'out-of-memory' | 'evicted' | 'node-lost',
): StoryEvent => ['container', { type, status }]
const snapshot: StoryEvent = ['snapshot', {}]

/** What the event stream says first: since when it runs, or why it was stopped. */
const told = ({ type, status, created_at: createdAt }: ContainerEntry): StoryEvent[] => {
  if (status === 'running') return [['container', { type, status, since: minutesAgo(95) }]]
  if (status !== 'exited' || createdAt === null) return []
  return [['container', { type, status: 'asleep', since: minutesAgo(25), why: 'idle' }]]
}

/** The dashboard with these containers. */
const story = (name: string, containers: readonly ContainerEntry[], more: Partial<Story> = {}): Story => ({
  name: `dashboard/${name}`,
  path: '/',
  events: [snapshot, ...containers.flatMap(told)],
  ...more,
  answers: { me: ann, listContainers: { containers: [...containers] }, ...more.answers },
})

const pulling = {
  type: 'prod',
  stage: 'pulling',
  layers_done: 3,
  layers_total: 7,
  bytes_done: 120e6,
  bytes_total: 400e6,
} as const
const full = { error: 'The server has no room for another container now. Nothing is lost; try again in a few minutes.' }
const tooMuch =
  'The program in this container needed more memory than it may use, so it was ended. Ask your administrator for more.'
const crashed =
  'The program in this container ended as soon as it was started (exit code 3). The last lines of its output may say why.'
const endedWith = 'Its program ended by itself (exit code 3). Its owner may find the reason under Logs.'
const commandMissing =
  'A command was not found in this container, or could not be run (exit code 127). The last lines of its output may name it. Starting it again does not help: ask your administrator.'

export const dashboardStories: readonly Story[] = [
  story('running', [
    dev({ ...measured(0.6, 2), idle: { at: minutesAgo(-50), why: 'page' } }),
    prod({ status: 'exited', last_used: minutesAgo(60 * 26), disk: { used: 0.4 * gib, limit: 10 * gib } }),
  ]),
  story('first-visit', [dev({ ...fresh }), prod({ ...fresh })]),
  story('folders-changed', [
    dev({ is_outdated: true }),
    prod({
      home_problem:
        'You cannot save files in your home: the program of this container runs as account 1001, and the home belongs to account 1000. What you save elsewhere in the container is lost with it. Tell your administrator, who can stop the container and call `berth homes chown 2`, which gives the home to the account of the program, or run this type as account 1000.',
    }),
  ]),
  story('first-administrator', [dev({ ...fresh }), prod({ ...fresh })], {
    boot: { is_admin: true, email: 'ada@example.org' },
    answers: { me: ada },
  }),
  story('loading', [], { answers: { listContainers: never } }),
  story('no-types', []),
  story('failed', [], { answers: { listContainers: new Refused(400, 'The list could not be read.') } }),
  story('unreachable', [], { answers: { listContainers: unreachable } }),
  // The event says what the list does: which of them comes first, differs.
  story('stale', [], { answers: { listContainers: onceOnly([dev(), prod()]) }, events: [stands('dev', 'running')] }),
  story('many', [
    dev(),
    prod({ status: 'paused' }),
    lab({ status: 'not_found' }),
    containerEntry('db', 'Database', 'PostgreSQL with the data of the exercises', { status: 'dead' }),
    containerEntry('web', 'Website', 'What everybody may see', { status: 'error' }),
    containerEntry('ml', 'Machine learning', 'For models that take their time', { ...fresh }),
  ]),
  story('eight', [
    dev({ ...measured(1.3, 4.2), idle: { at: minutesAgo(-50), why: 'traffic' } }),
    prod({ status: 'exited', last_used: minutesAgo(60 * 26), disk: { used: 0.4 * gib, limit: null } }),
    lab({ ...measured(1.9, 9.4), idle: { at: minutesAgo(-50), why: 'app' } }),
    containerEntry('db', 'Database', 'PostgreSQL with the data of the exercises', {
      icon: 'database',
      status: 'paused',
      memory: { used: 0.2 * gib, limit: gib },
    }),
    containerEntry('web', 'Website', 'What everybody may see', { icon: 'page', ...fresh }),
    containerEntry('ml', 'Machine learning', 'For models that take their time', { icon: 'robot', ...fresh }),
    containerEntry('stat', 'Statistics', 'R and RStudio, with the packages of the lecture', {
      icon: 'sigma',
      ...fresh,
    }),
    containerEntry('term', 'Terminal', 'A shell and your files', { icon: 'terminal', status: 'exited' }),
  ]),
  story(
    'launching-of-six',
    [
      dev({ ...fresh }),
      prod({ ...fresh }),
      lab({ ...fresh }),
      ...['db', 'ml', 'web'].map((type) => containerEntry(type, type, 'What it is for', { ...fresh })),
    ],
    {
      answers: { launchContainer: never },
      events: [snapshot, ['launch', { ...pulling, usual_seconds: 15 }]],
      press: ['Launch Laboratory'],
    },
  ),
  story('menu', [dev(measured(0.6, 2)), prod({ status: 'exited' })], { boot: { has_ssh: true }, press: [more] }),
  story('long-names', [
    dev({
      display_name: 'Softwareentwicklungsumgebungskonfiguration für Fortgeschrittene',
      description:
        'A description that an operator wrote on a long afternoon: it goes on for several lines, and names/a/path/that/has/no/place/to/break/in/it/at/all.txt',
    }),
    prod(),
  ]),
  story('waits-for-gpu', [dev(), prod({ ...fresh })], {
    events: [snapshot, ['launch', { type: 'prod', stage: 'queued', place: 1, waiting: 2, waits_for: 'gpu' }]],
  }),
  story('queued', [dev(), prod({ ...fresh })], {
    events: [snapshot, ['launch', { type: 'prod', stage: 'queued', place: 12, waiting: 40 }]],
  }),
  story('pulling', [dev(), prod({ ...fresh })], {
    events: [snapshot, ['launch', { type: 'prod', stage: 'queued', place: 1, waiting: 1 }], ['launch', pulling]],
  }),
  story('starting', [dev(), prod({ ...fresh })], {
    events: [
      snapshot,
      ['launch', pulling],
      ['launch', { type: 'prod', stage: 'creating', usual_seconds: 15 }],
      ['launch', { type: 'prod', stage: 'starting', usual_seconds: 15 }],
    ],
  }),
  story('waiting-for-app', [dev(), prod()], {
    events: [snapshot, ['launch', { type: 'prod', stage: 'starting' }], ['launch', { type: 'prod', stage: 'waiting' }]],
  }),
  story('launching', [dev({ ...fresh }), prod({ ...fresh })], {
    answers: { launchContainer: never },
    press: ['Launch Production'],
  }),
  story('crashed', [dev(), prod({ status: 'exited' })], {
    answers: {
      launchContainer: new Refused(500, crashed, { reason: 'crashed', exit_code: 3, last_lines: lines }),
    },
    press: ['Launch Production'],
  }),
  story('out-of-memory', [dev(), prod({ status: 'exited' })], {
    boot: { contact: 'help@example.org' },
    answers: {
      launchContainer: new Refused(500, tooMuch, {
        reason: 'out-of-memory',
        exit_code: 137,
        is_out_of_memory: true,
        last_lines: ['Loading the model', 'Killed'],
      }),
    },
    press: ['Launch Production'],
  }),
  story('output-unfolded', [dev(), prod({ status: 'exited' })], {
    answers: {
      launchContainer: new Refused(500, crashed, { reason: 'crashed', exit_code: 3, last_lines: lines }),
    },
    press: ['Launch Production', 'Last lines of its output'],
  }),
  story('command-missing', [dev(), prod({ status: 'exited' })], {
    boot: { contact: 'help@example.org' },
    answers: {
      launchContainer: new Refused(500, commandMissing, {
        reason: 'crashed',
        exit_code: 127,
        last_lines: ['sh: 1: jupyter: not found'],
      }),
    },
    press: ['Launch Production'],
  }),
  story('full', [dev(), prod({ status: 'exited' })], {
    answers: { launchContainer: new Refused(500, full.error, { reason: 'full' }) },
    press: ['Launch Production'],
  }),
  story('program-ended', [dev({ status: 'exited' }), prod({ status: 'exited' })], {
    events: [
      snapshot,
      ['container', { type: 'dev', status: 'crashed', message: endedWith }],
      stands('prod', 'out-of-memory'),
    ],
  }),
  story('ended-by-the-cluster', [dev({ status: 'exited' }), prod({ status: 'removing' })], {
    events: [snapshot, stands('dev', 'evicted'), stands('prod', 'node-lost')],
  }),
  story('blocked', [dev({ is_blocked: true, blocked_at: minutesAgo(60 * 20) }), prod()], {
    boot: { contact: 'help@example.org' },
  }),
  story(
    'account-blocked',
    [
      dev({ is_blocked: true, blocked_at: minutesAgo(50) }),
      prod({ is_blocked: true, blocked_at: minutesAgo(50) }),
      lab(fresh),
    ],
    {
      boot: { contact: 'helpdesk@example.org' },
      eventsRefused: new Refused(403, 'Your account is blocked.', {}, { [refusalHeader]: 'userBlocked' }),
    },
  ),
  story('blocked-without-contact', [dev({ is_blocked: true }), prod({ is_blocked: true, blocked_at: minutesAgo(5) })]),
  story('idle', [dev(), prod()], {
    events: [snapshot, ['idle', { type: 'dev', action: 'stop', at: minutesAgo(-0.75) }]],
  }),
  story('suspended-later', [
    dev({ idle: { at: minutesAgo(-50), why: 'app' } }),
    prod({ idle: { at: minutesAgo(-5), why: 'page' } }),
    lab({ idle: { at: minutesAgo(1), why: 'traffic' } }),
  ]),
  story('class-link', [dev(), prod()], {
    boot: { has_git_links: true },
    press: [more, 'Copy a link for your class Development'],
  }),
  { ...story('link-unknown', [dev(), prod()]), path: '/?link=unknown' },
  story('kept', [dev(), prod()], {
    events: [snapshot, ['idle', { type: 'dev', action: 'stop', at: minutesAgo(-0.75) }]],
    answers: { keepContainer: { message: 'It keeps running.', until: minutesAgo(-30) } },
    press: ['Keep it running'],
  }),
  story('disk', [dev(), prod()], {
    events: [
      snapshot,
      ['disk', { type: null, used: 19 * 2 ** 30, limit: 20 * 2 ** 30, measured: true }],
      ['disk', { type: 'dev', used: 9.6 * 2 ** 30, limit: 10 * 2 ** 30, measured: true }],
    ],
  }),
  story(
    'full-layers',
    [
      dev(),
      prod({
        status: 'exited',
        layer_problem:
          'This container was stopped, because it had written 10.2 GiB outside of your home folder: more than it may. Its next launch makes it anew, without these files; the files in your home folder are kept.',
      }),
    ],
    { events: [snapshot, ['layer', { type: 'dev', used: 9.6 * 2 ** 30, limit: 10 * 2 ** 30 }]] },
  ),
  story('sign-in-again', [dev(), prod({ status: 'exited' })], { boot: { csrf: null } }),
  story('group-ended', [
    dev({
      status: 'exited',
      launch_refused:
        'The group Physics 10b has ended, so its containers are not started any more. Your files are kept; ask your administrator if you need them.',
    }),
    prod(),
  ]),
  story('notice', [dev(), prod()], {
    state: { notice: 'There is no such container type. Known types: dev, prod.' },
  }),
  story('restart-confirm', [dev(), prod()], { press: [more, 'Restart Development'] }),
  story('stop-confirm', [dev(), prod()], { press: ['Stop Production'] }),
  story('shortcuts', [dev(), prod()], { press: ['Keyboard shortcuts'] }),
  story('connect', [dev(), prod()], {
    boot: { has_ssh: true },
    answers: {
      sshServer: {
        host: 'spawner.example.org',
        port: 2222,
        host_keys: [
          '[spawner.example.org]:2222 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIN/9IEeJl7zJrHk1LM5wvS2xRwLzAyWJK3dRQmKk3cX2',
        ],
      },
    },
    press: [more, 'Connect Development'],
  }),
  story('logs', [dev(), prod()], {
    logs: Array.from({ length: 60 }, (_, n) => `09:00:${String(n).padStart(2, '0')} GET /files/${n} 200 ${n * 7} ms`),
    press: [more, 'Logs Development'],
  }),
  story('logs-long', [dev(), prod()], {
    logs: Array.from({ length: 3_000 }, (_, n) => `${n} ${'a line of an app that has much to say '.repeat(4)}`),
    press: [more, 'Logs Development'],
  }),
  story('logs-empty', [dev(), prod()], { press: [more, 'Logs Development'] }),
  story('ports', [dev(), prod()], {
    answers: {
      containerPorts: {
        ports: [
          { port: 3000, is_main: false, is_loopback: true, url: 'https://spawner.example.org/ann-dev:3000/' },
          { port: 5173, is_main: false, is_loopback: false, url: 'https://spawner.example.org/ann-dev:5173/' },
          { port: 8080, is_main: true, is_loopback: false, url: 'https://spawner.example.org/ann-dev/' },
        ],
      },
    },
    press: [more, 'Ports Development'],
  }),
  {
    ...launchStory('files', {}),
    path: `/launch?${new URLSearchParams({ type: 'dev', next: '/ann-dev/lab', git: 'https://git.example.org/courses/statistics', ref: 'autumn', to: 'statistics' })}`,
  },
  { ...launchStory('starting', { launchContainer: never }) },
  {
    ...launchStory('pulling', { launchContainer: never }),
    events: [snapshot, ['launch', pulling]],
  },
  { ...launchStory('staying', { launchContainer: never }), press: ['Stay here'] },
  {
    ...launchStory('stayed', {
      launchContainer: {
        message: 'Container is running.',
        service_url: 'http://spawner.berth.localhost:8080/ann-prod',
        container_id: 'c-prod',
        status: 'running',
      },
    }),
    events: [snapshot, ['launch', { type: 'prod', stage: 'waiting' }]],
    press: ['Stay here'],
  },
  launchStory('crashed', {
    launchContainer: new Refused(500, crashed, { reason: 'crashed', exit_code: 3, last_lines: lines }),
  }),
  {
    ...launchStory('out-of-memory', {
      launchContainer: new Refused(500, tooMuch, { reason: 'out-of-memory', exit_code: 137, last_lines: ['Killed'] }),
    }),
    boot: { contact: 'https://help.example.org/berth' },
  },
  { ...launchStory('sign-in-again', {}), boot: { csrf: null } },
]

/** The launch page, as the gateway redirects to it. */
function launchStory(name: string, answers: NonNullable<Story['answers']>): Story {
  return {
    name: `launch/${name}`,
    path: '/launch?type=prod&next=%2Fann-prod%2F',
    answers: { me: ann, listContainers: { containers: [dev(), prod()] }, ...answers },
  }
}

/** The list can be requested when the page opens, and fails afterwards. */
function onceOnly(containers: ContainerEntry[]): NonNullable<NonNullable<Story['answers']>['listContainers']> {
  let isRead = false
  return () => {
    if (isRead) return new Refused(404, 'Your account could not be read just now.')
    isRead = true
    return { containers }
  }
}
