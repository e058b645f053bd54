import { render } from "preact";
import { App } from "./app";
import { follow } from "./live";
import "./styles.css";

follow();
render(<App />, document.getElementById("app")!);
