package calendar_test

import (
	"fmt"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/calendar"
)

func ExampleParseDuration() {
	month, _ := calendar.ParseDuration("P1M")
	fmt.Println(month.AddTo(time.Date(2020, time.January, 31, 9, 0, 0, 0, time.UTC)))

	_, err := calendar.ParseDuration("P5H")
	fmt.Println(err)
	// Output:
	// 2020-02-29 09:00:00 +0000 UTC
	// hours belong after a T (at byte 2); put a T before it: PT1H
}

func ExampleInterval_Window() {
	deployed := time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)
	auction, _ := calendar.ParseInterval("2020-03-20T09:00:00Z/PT6H")
	fmt.Println(auction.Window(deployed))
	fmt.Println(auction.Contains(deployed, deployed))
	// Output:
	// 2020-03-20 09:00:00 +0000 UTC 2020-03-20 15:00:00 +0000 UTC
	// false
}

func ExampleCron_Next() {
	newYork, _ := time.LoadLocation("America/New_York")
	nightly, _ := calendar.ParseCron("30 2 * * *")
	t := time.Date(2021, time.March, 13, 0, 0, 0, 0, newYork)
	for range 3 {
		t, _ = nightly.Next(t, newYork)
		fmt.Println(t) // 2:30 does not exist on the 14th
	}
	// Output:
	// 2021-03-13 02:30:00 -0500 EST
	// 2021-03-14 03:00:00 -0400 EDT
	// 2021-03-15 02:30:00 -0400 EDT
}
