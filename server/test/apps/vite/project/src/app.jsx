import { useState } from 'react'
import picture from './picture.svg'

/** What the test edits while a person looks at it. */
export function App() {
  const [count, setCount] = useState(0)
  return (
    <main>
      <h1>First words</h1>
      <img id="imported" src={picture} width="32" alt="" />
      <img id="public" src={`${import.meta.env.BASE_URL}anchor.svg`} width="32" alt="" />
      <button type="button" onClick={() => setCount(count + 1)}>
        Pressed {count}
      </button>
    </main>
  )
}
