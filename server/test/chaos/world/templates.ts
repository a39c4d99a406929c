import { shellApp } from '../../support/shell-app.ts'

/**
 * The app that a run launches. It answers everything with who it is, where its home came from, and what it was asked; an
 * upgrade makes it say back what it hears. Its home's canary is written when there is none, and never again.
 */
const app = shellApp(
  '{\\"base\\":\\"${BERTH_AUDIENCE:-$BASE_PATH}\\",\\"host\\":\\"$HOSTNAME\\",\\"colour\\":\\"$COLOUR\\",\\"canary\\":\\"$(cat /home/berth/canary)\\"}',
  {
    contentType: 'application/json',
    before: `
mkdir -p /home/berth/tree
for at in 1 2 3 4 5 6 7 8 9; do [ -s /home/berth/tree/$at ] || head -c 20000 /dev/urandom > /home/berth/tree/$at; done
[ -f /home/berth/canary ] || { echo "$BASE_PATH $(cat /proc/sys/kernel/random/uuid)" > /tmp/canary; cp /tmp/canary /home/berth/canary.new; mv /home/berth/canary.new /home/berth/canary; }`,
  },
)

/** Files in the home of an app that has begun. */
export const filesOfHome = ['canary', ...Array.from({ length: 9 }, (_, index) => `tree/${index + 1}`)]

/** What an app that is well answers. */
export interface AppAnswer {
  /** `/{slug}-{type}` of the container that answers. */
  readonly base: string
  /** First twelve digits of its id. */
  readonly host: string
  /** The parameter that its container was made with; empty for a type without one. */
  readonly colour: string
  readonly canary: string
}

/** Types whose app is well. */
export const goodTypes = ['dev', 'prod'] as const
export type GoodType = (typeof goodTypes)[number]

/** The one with a parameter, which is shared, too, and the values of that, the default first. */
export const chosenType = 'dev'
export const colours = ['red', 'green', 'blue'] as const
export type Colour = (typeof colours)[number]

/** Types whose app is not: it ends at once, eats all its memory, or never listens. */
export const badTypes = ['quits', 'greedy', 'deaf'] as const
export type BadType = (typeof badTypes)[number]

/** The type of the class, which is for its members alone, and ends as soon as it is told to. */
export const groupType = 'lesson'
/** Name of the class. */
export const groupName = 'Chaos'
/** Name of a second group, of some of these people. It names the type, too, so that they keep it when the class is over. */
export const clubName = 'Club'

/** A type whose app is paused after a second without a visit. */
export const idleType = 'idler'

/** A type whose app is well and is never visited: a visit would start it while its home is to be read or written. */
export const filesType = 'files'

/** For `CONTAINER_TEMPLATES`. */
export function chaosTemplates(image: string): string {
  const shell = (script: string, memory = '64m') => ({
    display_name: 'Chaos',
    description: 'For breaking',
    image,
    port: 8080,
    memory,
    command: ['/bin/sh', '-c', script],
  })
  return JSON.stringify({
    dev: {
      ...shell(app),
      parameters: { colour: { type: 'choice', choices: colours, default: colours[0], env: 'COLOUR' } },
    },
    prod: shell(app),
    files: shell(app),
    idler: { ...shell(app), idle_pause: 1 },
    lesson: {
      ...shell('trap "exit 0" TERM; httpd -p 8080 -h /home/berth; while :; do sleep 0.5; done'),
      groups: [groupName],
    },
    quits: shell('echo no; exit 3'),
    greedy: shell('sleep 1; tail /dev/zero', '16m'),
    deaf: shell('trap "" TERM; while :; do sleep 1; done'),
  } satisfies Record<GoodType | BadType | typeof idleType | typeof groupType | typeof filesType, object>)
}
