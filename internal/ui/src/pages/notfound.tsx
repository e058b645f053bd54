import { useTitle } from "../app";

export function NotFound() {
  useTitle("Not found");
  return (
    <>
      <h1>There is nothing here</h1>
      <p>
        This page does not exist. <a href="/">Go home</a>, or look among the <a href="/instances">instances</a>.
      </p>
    </>
  );
}
