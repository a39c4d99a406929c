import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { signInProblems } from '@berth/api/sign-in-problems.ts'
import { endpoints } from '@berth/api/endpoints.ts'
import { needRestart } from '#/config/settings.ts'
import { crashPoints } from '#/machine/crash-points.ts'
import { endpointsPage } from '../reference/endpoints.ts'
import { pages as generatedPages } from '../reference/pages.ts'
import { pages } from '../../web/src/paths.ts'
import { root } from './support/imports.ts'

/** Lists of the code that a page names one by one: what is added to the code and not to its page is found here. */
const read = (file: string) =>
  generatedPages[file.replace(/^docs\//, '')]?.() ?? readFileSync(path.join(root, file), 'utf8')

/** Names of the list that a page does not have as code. */
function missing(page: string, names: Iterable<string>): string[] {
  const text = read(page)
  return [...new Set(names)].filter((name) => !text.includes(`\`${name}\``))
}

test('every path of the front end is on the page of pages', () => {
  const text = read('docs/reference/pages.md')
  const paths = Object.values(pages)
  assert.deepEqual(
    paths.filter((name) => !new RegExp(`\`${RegExp.escape(name)}(?:\\?[^\`]*)?\``).test(text)),
    [],
  )
})

test('every code of a refused sign-in at a provider has its usual reason', () => {
  assert.deepEqual(missing('docs/how-to/sign-in-with-openid-connect.md', signInProblems), [])
})

test('every variable that Berth gives a container is in the reference of templates', () => {
  const source = read('server/src/containers/launch/build-container-spec.ts')
  const names = source.match(/\b(?:BASE_PATH|BERTH_[A-Z_]+)(?=:)/g) ?? []
  assert.ok(names.length > 5)
  assert.deepEqual(missing('docs/reference/templates.md', [...names, 'PORT']), [])
})

test('every program of a release is on the page of the command line', () => {
  const [, cases = ''] = /^case [^]*? in\n([^]*)^esac/m.exec(read('tools/release/files/berth')) ?? []
  const names = [...cases.matchAll(/^([a-z-]+)\)/gm)].map(([, name]) => `berth ${name}`)
  assert.ok(names.length > 4)
  assert.deepEqual(missing('docs/reference/command-line.md', names), [])
})

test('every room of the server is in the table of the architecture', () => {
  const folders = readdirSync(path.join(root, 'server/src'), { withFileTypes: true })
  const names = folders.filter((each) => each.isDirectory()).map(({ name }) => `${name}/`)
  assert.ok(names.length > 10)
  assert.deepEqual(missing('docs/explanation/architecture.md', names), [])
})

test('the programs that read the environment are named by the architecture', () => {
  const [sentence = ''] =
    /^`gateway\/src\/main\.ts` is the gateway process.*?only these read the environment\./m.exec(
      read('docs/explanation/architecture.md'),
    ) ?? []
  const programs = globSync('{gateway,server,cli}/src/**/*.ts', {
    cwd: root,
    exclude: ['**/*.test.ts', '**/hostile-app.ts'],
  })
    .filter((file) => read(file).includes('process.env'))
    .map((file) => file.replace(/^server\/src\//, ''))
  assert.deepEqual(
    programs.filter((file) => !sentence.includes(`\`${file}\``)),
    [],
  )
})

test('reliability has the number of crash points that a long run dies at', () => {
  assert.match(read('docs/explanation/reliability.md'), new RegExp(`at each of ${crashPoints.length} \\|`))
})

test('every command of the repository for tests and measurements is in CONTRIBUTING.md', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const text = read('CONTRIBUTING.md')
  assert.deepEqual(
    Object.keys(scripts).filter(
      (name) => name.includes(':') && !text.includes(`npm run ${name}`) && !text.includes(`, ${name}`),
    ),
    [],
  )
})

test('no heading of the endpoints is a raw part of a path', () => {
  const headings = [...endpointsPage().matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading)
  assert.ok(headings.length > 8 && Object.keys(endpoints).length > 100)
  assert.deepEqual(
    headings.filter((heading) => !/^[A-Z]/.test(heading)),
    [],
  )
})

test('pages that say which settings need a restart leave the list to the reference', () => {
  const files = ['docs/how-to/change-settings.md', 'docs/how-to/set-up-with-berth-init.md']
  const lines = files.flatMap((file) => read(file).split('\n'))
  const ofRestart = lines.filter((line) => /need a restart|after a stop and a start/.test(line))
  assert.ok(ofRestart.some((line) => line.includes('†')))
  assert.deepEqual(
    ofRestart.filter((line) => needRestart.some((name) => line.includes(`\`${name}\``))),
    [],
  )
})
