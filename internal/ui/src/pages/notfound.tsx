import { useTitle } from "../app";

export function NotFound() {
  useTitle("Not found");
  return (
    <>
      <h1>There is nothing here</h1>
      <p>
        This address is none of the page's. <a href="/">Go home</a>, or look among the <a href="/instances">instances</a>.
      </p>
    </>
  );
}
