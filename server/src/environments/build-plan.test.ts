import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BaseImage } from '#/engines/image-builds.ts'
import { checkBase, planBuild, renderDockerfile } from './build-plan.ts'
import { DockerfileProblem } from './dockerfile.ts'
import { dockerfileOf } from './environment-source.ts'
import { askedName, isNamedBy, wholeName } from './image-references.ts'

/** What a Dockerfile reads, whatever its spelling, and what of it is refused. */

const imagesOf = (...lines: string[]) => planBuild(lines.join('\n')).images
function keyOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof DockerfileProblem) return error.sentence.key.replace('environments.', '')
    throw error
  }
  return 'accepted'
}
const refusalOf = (...lines: string[]) => keyOf(() => planBuild(lines.join('\n')))
const base = (more: Partial<BaseImage> = {}): BaseImage => ({
  id: 'sha256:1',
  user: '',
  onBuild: [],
  labels: {},
  ...more,
})

test('images of FROM and COPY --from are found, with the values of ARG filled in', () => {
  const found: [readonly string[], readonly string[]][] = [
    [['FROM python:3.13'], ['python:3.13']],
    [
      ['from python:3.13 as Build', 'FrOm debian', 'copy --from=bUILD /a /b'],
      ['python:3.13', 'debian'],
    ],
    [
      ['FROM a', 'FROM b', 'COPY --from=0 /x /y'],
      ['a', 'b'],
    ],
    [
      ['FROM a', 'COPY --from=secret/image:1 /x /y'],
      ['a', 'secret/image:1'],
    ],
    [
      ['FROM a', 'COPY --chown=1:1 --from=c@sha256:00 /x /y'],
      ['a', 'c@sha256:00'],
    ],
    [['ARG V=3', 'ARG NAME=python:${V}', 'FROM $NAME'], ['python:3']],
    [['ARG V', 'FROM python:${V:-3}${X:+no}'], ['python:3']],
    [['ARG A=x B="y"', 'FROM $A/${B}'], ['x/y']],
    [["ARG A='x'", 'FROM $A'], ['x']],
    [['FROM scratch', 'FROM a'], ['a']],
    [['# syntax=docker/dockerfile:1', '# escape=`', 'FROM `', '  a', 'RUN x `', '# comment', '', '  y'], ['a']],
    [['# note', '# escape=`', 'FROM a', 'RUN x \\', ' y'], ['a']],
    [['\uFEFFFROM a\r', 'RUN x\r'], ['a']],
    [['FROM a AS a', 'FROM a'], ['a']],
  ]
  for (const [lines, images] of found) assert.deepEqual(imagesOf(...lines), images, lines.join(' / '))
})

test('what cannot be decided before a build is refused, with the line', () => {
  const refused: [string, ...string[]][] = [
    ['noFrom', 'RUN x'],
    ['noFrom', '# FROM a'],
    ['beforeFrom', 'RUN x', 'FROM a'],
    ['unclearImage', 'FROM $X'],
    ['unclearImage', 'FROM "a"'],
    ['unclearImage', 'FROM a\\b'],
    ['unclearImage', 'FROM a b'],
    ['unclearImage', 'ARG X="a\\"b"', 'FROM $X'],
    ['unclearImage', 'ARG X="a\\"b"', 'ARG Y=c$X', 'FROM $Y'],
    ['unclearImage', 'ARG X=a"b"', 'FROM c$X'],
    ['unclearImage', 'FROM ${X%y}'],
    ['unclearImage', 'FROM ${X:-${Y}}'],
    ['unclearImage', 'FROM a', 'ARG X=secret', 'COPY --from=$X / /'],
    ['unclearImage', 'FROM a', 'COPY --from=7 / /'],
    ['unclearImage', 'FROM a', 'COPY --from=0 / /'],
    ['unclearImage', 'FROM a', 'COPY --from=b --from=c / /'],
    ['flag', 'FROM --platform=linux/arm64 a'],
    ['flag', 'FROM a', 'RUN --mount=type=bind,from=secret,target=/x cat /x'],
    ['flag', 'FROM a', 'RUN --mount=type=secret,id=x true'],
    ['flag', 'FROM a', 'RUN --network=host true'],
    ['flag', 'FROM a', 'RUN --security=insecure true'],
    ['flag', 'FROM a', 'COPY --fr"om"=secret / /'],
    ['flag', 'FROM a', 'COPY --fr\\om=secret / /'],
    ['flag', 'FROM a', 'COPY --FROM=secret / /'],
    ['flag', 'FROM a', 'COPY --chown=1 --parents / /'],
    ['flag', 'FROM a', 'RUN \\', '  --mount=type=bind,from=secret,target=/x true'],
    ['flag', 'FROM a', 'COPY -- --from=secret / /'],
    ['flag', 'FROM a', 'COPY --chown=1 -- --from=secret / /'],
    ['flag', 'FROM a', 'RUN -- --mount=type=bind,from=secret,target=/x true'],
    ['flag', 'FROM a', 'USER --from=secret x'],
    ['flag', 'FROM a', 'ONBUILD --from=secret COPY / /'],
    ['flag', 'FROM a', 'ONBUILD RUN --mount=type=bind,from=secret,target=/x true'],
    ['trigger', 'FROM a', 'ONBUILD COPY --from=secret / /'],
    ['trigger', 'FROM a', 'ONBUILD ONBUILD RUN x'],
    ['trigger', 'FROM a', 'ONBUILD FROM secret'],
    ['addUrl', 'FROM a', 'ADD http://169.254.169.254/latest /x'],
    ['addUrl', 'FROM a', 'ADD x HTTPS://example.org/ /x'],
    ['addUrl', 'FROM a', 'ADD ["\\u0068ttp://127.0.0.1/", "/x"]'],
    ['addUrl', 'FROM a', 'ADD ["http://127.0.0.1/","/x"],'],
    ['addUrl', 'FROM a', 'ADD [ {"k":1, "http://127.0.0.1/": 2}, "/x" ]'],
    ['addUrl', 'FROM a', 'ENV U=http://127.0.0.1', 'ADD $U /x'],
    ['addUrl', 'FROM a', 'ADD git@example.org:x/y /x'],
    ['addUrl', 'FROM a', 'ONBUILD ADD http://127.0.0.1/ /x'],
    ['ownLabel', 'FROM a', 'LABEL berth.instance=x'],
    ['ownLabel', 'FROM a', 'LABEL a=b "berth.user_id"=1'],
    ['ownLabel', 'FROM a', 'ARG K=berth', 'LABEL $K.instance=x'],
    ['ownLabel', 'FROM a', 'LABEL ber\\th.instance=x'],
    ['ownLabel', 'FROM a', 'LABEL a=b \\', '  berth.instance=x'],
    ['ownLabel', 'FROM a', 'LABEL b"er"th.instance=x'],
    ['ownLabel', 'FROM a', "LABEL a=1 b'erth'.user_id=2"],
    ['ownLabel', 'FROM a', 'LABEL b"erth".instance x'],
    ['ownLabel', '# escape=`', 'FROM a', 'ENV K=berth.user_id', 'LABEL a="x\\" $K="1 "'],
    ['ownLabel', 'FROM a', 'LABEL a=1 "${X:-berth.user_id${Y:+ z}}"=5'],
    ['stageTwice', 'FROM a AS x', 'FROM b AS X'],
    ['directive', '# syntax=evil/frontend', 'FROM a'],
    ['directive', '#syntax = docker.io/evil/dockerfile', 'FROM a'],
    ['directive', '# escape=x', 'FROM a'],
    ['heredoc', 'FROM a', 'RUN <<EOF', 'FROM secret', 'EOF'],
    ['heredoc', 'FROM a', 'COPY <<-"EOF" /x', 'x', 'EOF'],
    ['unknownInstruction', 'FROM a', 'INCLUDE x'],
    ['unknownInstruction', 'FROM a', 'FROM\u00a0secret'],
    ['doubleEscape', 'FROM a', 'RUN x \\\\', 'FROM secret'],
    // The engine would take the line below for a part of it, with its URL or its label.
    ['doubleEscape', 'FROM a', 'ADD \\\u00a0', 'CMD http://127.0.0.1/ /x'],
    ['doubleEscape', 'FROM a', 'LABEL a="1 \\\u3000', 'ENV " berth.instance=x'],
    ['controlCharacter', 'FROM a', 'RUN x\rFROM secret'],
    ['controlCharacter', 'FROM a', 'RUN x \u202e y'],
    ['controlCharacter', 'FROM a', 'RUN x \u2028FROM secret'],
    ['tooLong', 'FROM a', `RUN ${'x'.repeat(70_000)}`],
  ]
  for (const [key, ...lines] of refused) assert.equal(refusalOf(...lines), key, lines.join(' / '))
})

test('usual Dockerfiles are accepted', () => {
  const usual: string[][] = [
    [
      'FROM a',
      'LABEL maintainer="x" version="$VERSION" org.x.y="berthed"',
      'LABEL old form',
      'LABEL a="of $B now" url="https://berth.x/"',
    ],
    ['FROM a', 'RUN apt-get update && \\', '    # tools', '    apt-get install -y x', 'CMD ["x", "--flag"]'],
    ['FROM a', 'RUN echo $((1<<2)) <<< x', 'ENTRYPOINT ["x"]', 'HEALTHCHECK --interval=5s CMD x'],
    ['FROM a', 'ADD --chown=1:1 x.tar.gz /x', 'ADD ["a b", "/x"]', 'COPY --link x y'],
    ['FROM a', 'ONBUILD RUN x', 'ONBUILD COPY . /app', 'SHELL ["/bin/bash", "-c"]'],
  ]
  for (const lines of usual) assert.equal(refusalOf(...lines), 'accepted', lines.join(' / '))
})

test('the engine gets ids of what was checked, stages by names of ours, labels in each, and one line for each step', () => {
  const plan = planBuild(
    [
      'ARG V=1',
      'FROM a:$V AS one',
      'RUN x \\',
      '  # note',
      '  y',
      'FROM b',
      'COPY --link --from=ONE --chown=1 /a /b',
      'copy --from=c / /',
    ].join('\n'),
  )
  const bases = new Map([
    ['a:1', base({ id: 'sha256:aa' })],
    ['b', base({ id: 'sha256:bb' })],
    ['c', base({ id: 'sha256:cc' })],
  ])
  assert.deepEqual(renderDockerfile(plan, bases, { 'berth.build': 'x' }).split('\n'), [
    '# escape=\\',
    'ARG V=1',
    'FROM sha256:aa AS berth-stage-0',
    'LABEL berth.build="x"',
    'RUN x   y',
    'FROM sha256:bb AS berth-stage-1',
    'LABEL berth.build="x"',
    'COPY --from=berth-stage-0 --chown=1 /a /b',
    'COPY --from=sha256:cc / /',
    '',
  ])
})

test('a base image may bring no trigger that reads elsewhere, and no label of Berth', () => {
  const check = (more: Partial<BaseImage>) => keyOf(() => checkBase('x', base(more), { 'berth.build': '' }))
  assert.equal(check({ onBuild: ['COPY . /app', 'RUN make'], labels: { a: 'b', 'berth.build': 'other' } }), 'accepted')
  assert.equal(check({ labels: { 'berth.content': 'of a demo image' } }), 'accepted')
  for (const trigger of [
    'COPY --from=secret / /',
    'copy --fr\\om=secret / /',
    'RUN --mount=type=bind,from=secret,target=/x true',
    'ADD http://127.0.0.1/ /',
    'LABEL berth.instance=x',
    'FROM secret',
    'RUN x\nCOPY --from=secret / /',
  ])
    assert.equal(check({ onBuild: [trigger] }), 'baseTrigger', trigger)
  assert.equal(check({ labels: { 'berth.instance': 'x' } }), 'baseLabel')
})

test('packages become steps as root, and the program runs as the account of the base', () => {
  const text = dockerfileOf({
    base: 'a',
    apt: ['jq=1.6'],
    pip: ['requests>=2,<3'],
    npm: ['@x/y@1'],
    run: ['echo "a"\nb'],
  })
  const plan = planBuild(text, { keepsUser: true })
  const rendered = renderDockerfile(plan, new Map([['a', base({ user: '1000:1000' })]]), {})
  assert.match(rendered, /^USER 0\nRUN \["\/bin\/sh","-ec","apt-get update .*'jq=1\.6'/m)
  assert.match(rendered, /'requests>=2,<3'/)
  assert.match(rendered, /RUN \["\/bin\/sh","-ec","echo \\"a\\"\\nb"\]\nUSER 1000:1000\n$/)
})

// With BUILD_BASES=library/* a manager built on any image of the engine, exams of other courses included, by two digits of its id.
test('no name is one that the engine takes for an id, or for another path of its API', () => {
  const id = '3f'.repeat(32)
  const names = [
    'sha256:3f',
    `sha256:${id}`,
    'library/sha256:3f',
    'docker.io/sha256:3f',
    'index.docker.io/library/sha256:3f',
  ]
  for (const name of [...names, '3f3f3f3f3f3f', id, `sha256@sha256:${id}`]) {
    const asked = askedName(wholeName(name))
    // Docker: digits alone, or after `sha256:`.
    assert.doesNotMatch(asked, /^(sha256:)?[a-f0-9]+$/, name)
    assert.equal(wholeName(asked), wholeName(name), 'it is the same image')
  }
  assert.equal(askedName(wholeName('docker.io/library/python:3')), 'python:3')
  for (const name of ['docker.io//sha256:3f', 'quay.io/course/../../sha256:3f', 'docker.io/./sha256:3f', 'x/', 'x/..'])
    for (const lines of [[`FROM ${name}`], ['FROM a', `COPY --from=${name} / /`]])
      assert.equal(refusalOf(...lines), 'unclearImage', name)
  assert.deepEqual(imagesOf('FROM quay.io:5000/x-y/z_1:1.2'), ['quay.io:5000/x-y/z_1:1.2'])
})

test('names of images are completed as the engine does it, and compared whole', () => {
  for (const [written, whole] of [
    ['python', 'docker.io/library/python:latest'],
    ['python:3', 'docker.io/library/python:3'],
    ['docker.io/python', 'docker.io/library/python:latest'],
    ['index.docker.io/library/python', 'docker.io/library/python:latest'],
    ['x/y', 'docker.io/x/y:latest'],
    ['localhost/x', 'localhost/x:latest'],
    ['quay.io:5000/x/y:1', 'quay.io:5000/x/y:1'],
    ['python:3@sha256:00', 'docker.io/library/python@sha256:00'],
  ] as const)
    assert.equal(wholeName(written), whole, written)
  const names = ['python:3*', 'quay.io/course/*', 'debian', 'org/*']
  for (const [image, isNamed] of [
    ['python:3.13', true],
    ['docker.io/library/python:3', true],
    ['python:2', false],
    ['python:3@sha256:00', false],
    ['evil/python:3', false],
    ['quay.io/course/x', true],
    ['quay.io/coursex', false],
    ['debian:latest', true],
    ['debian:12', false],
    ['debian@sha256:00', false],
    ['org/x:1', true],
    ['evil.io/org/x', false],
    ['0123456789ab', false],
  ] as const)
    assert.equal(isNamedBy(names, image), isNamed, image)
  assert.ok(isNamedBy(['*'], 'any.thing/at:all'))
})

test('no line takes longer than a few passes over it', () => {
  const long = 60_000
  for (const line of [`ARG ${'a'.repeat(long)}"`, `# a=x${' '.repeat(long)}y`, `ARG X${' '.repeat(long)}y`]) {
    const before = process.cpuUsage()
    assert.deepEqual(imagesOf(line, 'FROM a'), ['a'])
    // In µs; comparing each character with each other one takes ten times as long.
    assert.ok(process.cpuUsage(before).user < 1_000_000, line.slice(0, 10))
  }
  assert.equal(refusalOf('ARG A=xxxxxxxxxx', ...Array<string>(40).fill('ARG A=$A$A'), 'FROM $A'), 'unclearImage')
})
