import { Button } from '#/components/button.tsx'
import { ContainerCard } from '#/components/container-card.tsx'
import { DiskNote } from '#/components/disk-note.tsx'
import { focusHeading, Page } from '#/components/page.tsx'
import { useBerths, type Berths } from '#/hooks/use-berths.ts'
import { useEvents } from '#/hooks/use-events.ts'
import { useNotice } from '#/hooks/use-notice.ts'
import { useSentence } from '#/hooks/use-sentence.ts'
import type { Told } from '#/told.ts'

const words = {
  title: 'Your containers',
  loading: 'Looking up your containers…',
  failed: 'Your containers could not be looked up.',
  stale: 'This may be out of date.',
  retry: 'Try again',
  empty: 'No container types are configured here yet. Ask your administrator.',
}

/** The signed-in person's home: one card for each type. A page that led here may have left words to say why. */
export function Dashboard() {
  const berths = useBerths()
  const told = useEvents(berths.refresh)
  const notice = useNotice()
  return (
    <Page title={words.title}>
      {notice !== undefined && <p className="note">{notice}</p>}
      <DiskNote event={told.disks.get(null)} />
      <Problem berths={berths} />
      {berths.containers ? <Cards berths={berths} told={told} /> : !berths.problem && <Loading />}
    </Page>
  )
}

function Cards({ berths, told }: { berths: Berths; told: Told }) {
  const { containers = [], refresh } = berths
  if (containers.length === 0) return <p>{words.empty}</p>
  return (
    <ul className="cards">
      {containers.map((entry, index) => (
        // The API restarts the first configured type only; the list keeps the order of the configuration.
        <ContainerCard
          key={entry.type}
          entry={entry}
          launch={told.launches.get(entry.type)}
          disk={told.disks.get(entry.type)}
          canRestart={index === 0}
          onChange={refresh}
        />
      ))}
    </ul>
  )
}

function Loading() {
  return (
    <>
      <p role="status">{words.loading}</p>
      <ul className="cards" aria-hidden>
        <li className="card placeholder" />
        <li className="card placeholder" />
      </ul>
    </>
  )
}

/** The slot is always there, so that a problem that comes up later is read out. */
function Problem({ berths: { containers, problem, refresh } }: { berths: Berths }) {
  const sentenceOf = useSentence()
  // The button goes away with the problem, so the focus must leave it first.
  function retry() {
    focusHeading()
    refresh()
  }

  return (
    <div role="alert" className="live">
      {problem !== undefined && (
        <div className="alert with-action">
          <p>
            {containers ? words.stale : words.failed} {sentenceOf(problem)}
          </p>
          <Button onPress={retry}>{words.retry}</Button>
        </div>
      )}
    </div>
  )
}
